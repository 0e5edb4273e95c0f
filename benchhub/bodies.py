"""What is left of a request's body when it was answered before it had been read.

A connection that is closed while the client still sends is reset, and the client may lose the
answer. So we say that we close, end our side, and discard what still comes for a second. Done
here, in the thread of the request: gunicorn would do it in the one that accepts connections.
"""

import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import IO, Any

Environ = dict[str, Any]
Application = Callable[[Environ, Any], Iterable[bytes]]
DISCARD_S = 1.0
PIECE_BYTES = 65_536


class Body:
    """`wsgi.input` that knows whether all of it was read. `length` None: not announced."""

    def __init__(self, stream: IO[bytes], length: int | None) -> None:
        self._stream = stream
        self._left = length

    @property
    def unread(self) -> bool:
        return self._left is None or self._left > 0

    def read(self, size: int = -1) -> bytes:
        return self._count(self._stream.read(size))

    def readline(self, size: int = -1) -> bytes:
        return self._count(self._stream.readline(size))

    def close_after(self) -> None:
        """Have the server announce the end of the connection, where it can."""
        force_close = getattr(self._stream, "force_close", None)
        if force_close:
            force_close()

    def _count(self, data: bytes) -> bytes:
        if self._left is not None:
            self._left -= len(data)
        return data


class Answer:
    """An answer that discards the rest of the request once it was sent."""

    def __init__(self, parts: Iterable[bytes], body: Body, connection: Any) -> None:
        self._parts = parts
        self._body = body
        self._connection = connection

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._parts)

    def close(self) -> None:
        try:
            if self._body.unread and self._connection is not None:
                discard(self._connection)
        finally:
            close = getattr(self._parts, "close", None)
            if close:
                close()


def discarding(application: Application) -> Application:
    """The application, polite to clients that send more than it reads."""

    def serve(environ: Environ, start_response: Any) -> Iterable[bytes]:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        chunked = bool(environ.get("HTTP_TRANSFER_ENCODING"))
        if not length and not chunked:
            return application(environ, start_response)
        body = Body(environ["wsgi.input"], None if chunked else length)

        def begin(*args: Any) -> Any:
            if body.unread:
                body.close_after()
            return start_response(*args)

        parts = application({**environ, "wsgi.input": body}, begin)
        return Answer(parts, body, environ.get("gunicorn.socket"))

    return serve


def discard(connection: socket.socket) -> None:
    """End our side and drop what comes, until the client ends its own or a second is over."""
    end_s = time.monotonic() + DISCARD_S
    with suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
        while (left_s := end_s - time.monotonic()) > 0:
            connection.settimeout(left_s)
            if not connection.recv(PIECE_BYTES):
                break
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
