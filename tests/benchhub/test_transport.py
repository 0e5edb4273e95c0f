"""The broker in files: what is sent comes once and in order; what is no message stops nobody."""

from __future__ import annotations

import os
import resource
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kombu import Connection
from kombu.exceptions import ChannelError, OperationalError

from benchhub import transport
from benchhub.transport import ASIDE, LARGEST, MOST_ASIDE, QueueFolder
from tests.reliability import bells
from tests.reliability.bells import QUEUE, connect


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    """Where the queues are; made by the first message."""
    return tmp_path / "var" / "queue"


@pytest.fixture
def line(broker: Path) -> Iterator[Connection]:
    with connect(broker) as line:
        yield line


def send(line: Connection, *bodies: Any, queue: str = QUEUE) -> None:
    simple = line.SimpleQueue(queue)
    for body in bodies:
        simple.put(body, serializer="json")
    simple.close()


def received(line: Connection, queue: str = QUEUE) -> list[Any]:
    """All that comes at once."""
    simple = line.SimpleQueue(queue)
    bodies: list[Any] = []
    while True:
        try:
            message = simple.get(block=False)
        except simple.Empty:
            simple.close()
            return bodies
        bodies.append(message.payload)
        message.ack()


def files(broker: Path) -> list[str]:
    return sorted(path.name for path in (broker / QUEUE).iterdir() if path.name != ASIDE)


def aside(broker: Path) -> list[str]:
    return sorted(path.name for path in (broker / QUEUE / ASIDE).iterdir())


def test_what_one_process_sends_another_gets_in_order(line: Connection, broker: Path) -> None:
    send(line, *range(20))
    with connect(broker) as other:
        assert received(other) == [*range(20)]
    assert received(line) == []
    assert files(broker) == []


def test_the_order_outlives_a_boot(
    line: Connection, broker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The monotonic clock begins anew at a boot; the wall clock does not.
    send(line, "before")
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    monkeypatch.setattr(time, "monotonic_ns", lambda: 0)
    send(line, "after")
    assert received(line) == ["before", "after"]


def test_queues_are_apart(line: Connection) -> None:
    send(line, "one", queue="host-a")
    send(line, "two", queue="host-a.b")
    assert received(line, "host-a.b") == ["two"]
    assert received(line, "host-a") == ["one"]


def test_only_this_account_may_read_and_write(line: Connection, broker: Path) -> None:
    send(line, "one")
    [message] = (broker / QUEUE).iterdir()
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (broker, broker / QUEUE, message)]
    assert modes == [0o700, 0o700, 0o600]


def test_several_at_once_get_each_message_once(tmp_path: Path) -> None:
    lines = bells.measure(tmp_path / "queue", 900)
    assert [line.cells() for line in lines if line.is_over] == []


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("0.empty.msg", b""),
        ("0.short.msg", b'{"body": "'),
        ("0.bytes.msg", b"\xff\x00\xfe"),
        ("0.list.msg", b"[1, 2]"),
        ("0.number.msg", b"7"),
        ("0.deep.msg", b"[" * 100_000),
        ("0.other.msg", b'{"properties": {"delivery_tag": 1}}'),
        ("0.nobody.msg", b'{"body": null, "content-type": null, "properties": {}}'),
        ("0.huge.msg", b" " * (LARGEST + 1)),
        ("strange", b"hello"),
    ],
)
def test_a_file_that_is_no_message_is_set_aside(
    line: Connection, broker: Path, name: str, data: bytes
) -> None:
    send(line, "one")
    (broker / QUEUE / name).write_bytes(data)
    send(line, "two")
    assert received(line) == ["one", "two"]
    [kept] = aside(broker)
    assert kept.endswith(name)
    assert (broker / QUEUE / ASIDE / kept).read_bytes() == data


def test_what_is_no_file_is_set_aside_unread(line: Connection, broker: Path) -> None:
    send(line, "one")
    os.mkfifo(broker / QUEUE / "0-pipe")
    (broker / QUEUE / "0-folder").mkdir()
    (broker / QUEUE / "0-link").symlink_to("/dev/zero")
    assert received(line) == ["one"]
    assert [name.rpartition("0-")[2] for name in aside(broker)] == ["folder", "link", "pipe"]


def test_what_is_set_aside_is_bounded(tmp_path: Path) -> None:
    folder = QueueFolder(tmp_path / "q")
    folder.make()
    for number in range(MOST_ASIDE + 20):
        if number % 10:
            (folder.path / f"{number:04d}").write_bytes(b"")
        else:
            (folder.path / f"{number:04d}").mkdir()
            (folder.path / f"{number:04d}" / "inner").write_bytes(b"")
    assert folder.take(_refuse) is None
    kept = sorted(path.name for path in (folder.path / ASIDE).iterdir())
    assert len(kept) == MOST_ASIDE
    assert kept[-1].endswith(f"{MOST_ASIDE + 19:04d}")


def _refuse(data: bytes) -> None:
    raise ValueError("not today")


def test_what_a_killed_producer_left_is_no_message_and_goes(line: Connection, broker: Path) -> None:
    send(line, "one")
    old, new = broker / QUEUE / ".old.msg", broker / QUEUE / ".new.msg"
    for path in (old, new):
        path.write_bytes(b'{"body"')
    hours_ago = time.time() - 2 * 3600
    os.utime(old, (hours_ago, hours_ago))
    assert received(line) == ["one"]
    assert files(broker) == [".new.msg"]


def test_a_folder_that_was_wiped_away_is_made_again(line: Connection, broker: Path) -> None:
    send(line, "lost")
    with line.Consumer([line.SimpleQueue(QUEUE).queue], callbacks=[_acknowledge]):
        _wipe(broker)
        with pytest.raises(TimeoutError):
            line.drain_events(timeout=0.2)
        assert stat.S_IMODE((broker / QUEUE).stat().st_mode) == 0o700
        _wipe(broker)
        with connect(broker) as other:
            send(other, "found")
        line.drain_events(timeout=5)
    assert RECEIVED.pop() == "found"


RECEIVED: list[Any] = []


def _acknowledge(body: Any, message: Any) -> None:
    RECEIVED.append(body)
    message.ack()


def _wipe(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()
    folder.rmdir()


def test_a_folder_that_is_none_stops_no_consumer(line: Connection, broker: Path) -> None:
    with line.Consumer([line.SimpleQueue(QUEUE).queue], callbacks=[_acknowledge]):
        _wipe(broker)
        broker.write_bytes(b"a file")
        with pytest.raises(TimeoutError):
            line.drain_events(timeout=0.2)
        with pytest.raises(OperationalError, match="Not a directory"):
            send(line, "nowhere")
        broker.unlink()
        send(line, "again")
        line.drain_events(timeout=5)
    assert RECEIVED.pop() == "again"


def test_a_full_disk_leaves_no_half_message(line: Connection, broker: Path) -> None:
    send(line, "one")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OperationalError, match="File too large"):
            send(line, "two")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert len(files(broker)) == 1
    send(line, "three")
    assert received(line) == ["one", "three"]


def test_what_was_not_acknowledged_is_put_back_when_its_consumer_ends(
    line: Connection, broker: Path
) -> None:
    send(line, "one")
    with connect(broker) as other:
        assert other.SimpleQueue(QUEUE).get(block=False).payload == "one"
        assert received(line) == []
    assert received(line) == ["one"]


def test_size_and_purge_count_messages(line: Connection, broker: Path) -> None:
    send(line, *range(5))
    channel: Any = line.default_channel
    assert channel.queue_declare(QUEUE).message_count == 5
    assert channel.queue_purge(QUEUE) == 5
    assert channel.queue_declare(QUEUE).message_count == 0
    assert received(line) == []


@pytest.mark.parametrize("name", ["../up", "a/b", ".hidden", "", "a b", "x" * 201])
def test_a_name_that_is_no_folders_is_refused(line: Connection, name: str) -> None:
    channel: Any = line.default_channel
    with pytest.raises(ChannelError, match="is no name of a queue"):
        channel.queue_purge(name)


def test_the_address_is_known_to_kombu() -> None:
    transport.register()
    line = Connection("benchhub://", transport_options={"folder": "unused"})
    assert line.get_transport_cls() is transport.Transport
    assert not line.supports_exchange_type("fanout")
