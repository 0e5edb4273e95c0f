"""Django's upload handler that streams files into the store."""

from __future__ import annotations

import errno
import logging
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import IO, Any

from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParser
from django.utils.translation import gettext as _

from results.artefacts import Writer, save
from results.passing import disk_is_full
from results.receiving.names import flat, unique
from results.receiving.refusals import MB, PASSING_S, ReceiveError, no_room, refusal

MOST_BYTES = 64 * MB
MOST_FIELDS = 200
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Received:
    """A file that is in the store: its flat name, SHA-256, and size in bytes.

    `made_ns` is what `artefacts.take_back` wants; None if the store had the file before.
    """

    name: str
    sha256: str
    size: int
    made_ns: int | None = field(default=None, compare=False)


def keep(name: str, data: bytes) -> Received:
    """Keep something that did not come as a file. Raises ReceiveError."""
    check_size(len(data))
    try:
        return Received(flat(name), save(data), len(data))
    except OSError as error:
        raise _of_the_disk(error) from error


def check_size(size: int) -> None:
    """Raises ReceiveError if the bytes of all files of a request are too many."""
    if size > MOST_BYTES:
        raise ReceiveError(413, too_large())


def too_large() -> str:
    """The limit in words."""
    return _("The files hold more than %(most)d MB together; send fewer at a time.") % {
        "most": MOST_BYTES // MB
    }


class Counted:
    """A stream that knows how many bytes, and how many parts of its form, were read from it."""

    def __init__(self, stream: IO[bytes], boundary: bytes) -> None:
        self.count = 0
        self.parts = 0
        self._stream = stream
        self._mark = b"\r\n--" + boundary + b"\r\n"
        self._tail = b"\r\n"  # before the first part stands no line's end

    def read(self, size: int = -1) -> bytes:
        """The next `size` bytes, fewer at the end."""
        data = self._stream.read(size)
        self.count += len(data)
        seen = self._tail + data
        self.parts += seen.count(self._mark)
        self._tail = seen[-(len(self._mark) - 1) :]
        return data


class FormParser(MultiPartParser):
    """Django's, with our own rule for names: no file is dropped for a name that has no letter."""

    def sanitize_file_name(self, file_name: str) -> str:
        return flat(file_name)


class Doorkeeper(FileUploadHandler):
    """Reads a whole form: its files into the store, all of them or none.

    `files` is what arrived, in the order sent; `failure`, why it was not taken. Django asks
    this handler first, so that it can count the whole body and say what was wrong with it.
    """

    def __init__(self, request: HttpRequest | None = None) -> None:
        super().__init__(request)
        self.files: list[Received] = []
        self.failure: ReceiveError | None = None

    def handle_raw_input(
        self,
        input_data: IO[bytes],
        META: Mapping[str, Any],  # noqa: N803  Django's name
        content_length: int,
        boundary: Any,
        encoding: str | None = None,
    ) -> tuple[Any, Any]:
        """Fields and (no) files of the form. Raises ReceiveError."""
        # The parser asks for nothing but read(). The boundary is bytes, whatever is declared.
        body: Any = Counted(input_data, boundary)
        try:
            with ExitStack() as drafts:
                keeper = Keeper(drafts)
                form = FormParser(META, body, [keeper], encoding).parse()
                _check_whole(body.count, content_length, keeper)
                _check_fields(form[0], body.parts - keeper.count)
                self.files = keeper.keep_all()
        except Exception as error:
            found = refusal(error)
            if found is None:
                raise
            self.failure = found
            raise found from error
        return form


class Keeper(FileUploadHandler):
    """Writes each file of a form as it comes."""

    def __init__(self, drafts: ExitStack) -> None:
        super().__init__()
        self._drafts = drafts
        self._writers: dict[str, Writer] = {}
        self._writer: Writer | None = None
        self.size = 0
        self.interrupted = False

    def new_file(self, field_name: str, file_name: str, *rest: Any, **more: Any) -> None:
        """A file begins."""
        super().new_file(field_name, file_name, *rest, **more)
        with _Disk():
            self._writer = self._drafts.enter_context(Writer())
        self._writers[unique(file_name, self._writers)] = self._writer

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """A piece of it. Raises ReceiveError beyond the limit, or if the disk is full."""
        self.size += len(raw_data)
        check_size(self.size)
        if self._writer is not None:
            with _Disk():
                self._writer.write(raw_data)

    def file_complete(self, file_size: int) -> None:
        """It is whole: synced, so that no descriptor stays open."""
        if self._writer is not None:
            with _Disk():
                self._writer.finish()
        self._writer = None

    def upload_interrupted(self) -> None:
        """The body ended within a file."""
        self.interrupted = True

    @property
    def count(self) -> int:
        """How many files came."""
        return len(self._writers)

    def keep_all(self) -> list[Received]:
        """Give all files their places."""
        with _Disk():
            return [
                Received(name, w.keep(), w.size, w.made_ns) for name, w in self._writers.items()
            ]


class _Disk:
    """Turns what the disk refuses into a ReceiveError, apart from what the network refuses."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, OSError):
            raise _of_the_disk(error) from error


def _of_the_disk(error: OSError) -> ReceiveError:
    if disk_is_full(error):
        return ReceiveError(507, no_room(), PASSING_S)
    name = errno.errorcode.get(error.errno or 0, "")
    logger.error("A file could not be stored: %s %s", name, error, exc_info=error)
    text = _("The file could not be stored; the failure is logged. Nothing of it was kept.")
    return ReceiveError(503, text, PASSING_S)


def _check_whole(count: int, announced: int, keeper: Keeper) -> None:
    """Raises ReceiveError if the body is shorter than announced or ends within a file."""
    if count < announced:
        text = _("The connection broke after %(count)d of %(announced)d bytes.")
        raise ReceiveError(400, text % {"count": count, "announced": announced})
    if keeper.interrupted:
        raise ReceiveError(400, _("The form ends within a file: its last boundary is missing."))


def _check_fields(fields: Any, sent: int) -> None:
    """Raises ReceiveError if there are too many, or fewer than were sent.

    Django leaves out a part whose header is not UTF-8: a file would be lost without a word.
    """
    count = sum(len(values) for _name, values in fields.lists())
    if count > MOST_FIELDS:
        text = _("The form has more than %(most)d fields.") % {"most": MOST_FIELDS}
        raise ReceiveError(400, text)
    if count < sent:
        text = _("A part of the form has no name, or one that is not UTF-8: rename the file.")
        raise ReceiveError(400, text)
