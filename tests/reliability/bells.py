"""R-10: the broker in files, with three producers, three consumers and files that are no messages.

`python -m tests.reliability.bells produce|consume FOLDER …` is one of those processes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from kombu import Connection

from benchhub import transport
from tests.bench.remote import ROOT
from tests.bench.report import Line

QUEUE = "host-bells"
PRODUCERS = CONSUMERS = 3
FILLING = "x" * 2_000
POLL_S = 0.001
STOP = "stop"


def connect(folder: Path) -> Connection:
    """A connection to the broker in that folder."""
    transport.register()
    options = {"folder": str(folder), "polling_interval": POLL_S}
    return Connection("benchhub://", transport_options=options)


def produce(folder: Path, first: int, count: int) -> None:
    """Send the numbers from `first` on."""
    with connect(folder) as line:
        producer = line.Producer()
        for number in range(first, first + count):
            producer.publish({"n": number, "filling": FILLING}, routing_key=QUEUE)


def consume(folder: Path, told: Path) -> None:
    """Note each number that comes, until there is a file STOP and nothing more comes."""
    with connect(folder) as line, told.open("w", encoding="ascii") as notes:

        def note(body: Any, message: Any) -> None:
            notes.write(f"{body['n']}\n")
            message.ack()

        with line.Consumer([line.SimpleQueue(QUEUE).queue], callbacks=[note]):
            while True:
                is_last = (folder.parent / STOP).exists()
                try:
                    line.drain_events(timeout=0.5)
                except TimeoutError:
                    if is_last:
                        return


def measure(folder: Path, count: int) -> list[Line]:
    """`count` messages, a third from each producer, while other files are planted."""
    share = count // PRODUCERS
    began_s = time.monotonic()
    consumers = [_start("consume", folder, folder.parent / f"told-{n}") for n in range(CONSUMERS)]
    producers = [_start("produce", folder, n * share, share) for n in range(PRODUCERS)]
    planted = 0
    while any(process.poll() is None for process in producers):
        planted += _plant(folder / QUEUE, planted)
        time.sleep(0.05)
    (folder.parent / STOP).touch()
    codes = [process.wait() for process in (*producers, *consumers)]
    told = Counter(
        int(line)
        for n in range(CONSUMERS)
        for line in (folder.parent / f"told-{n}").read_text(encoding="ascii").split()
    )
    took = f"{time.monotonic() - began_s:.0f} s, {planted} other files planted"
    return [
        Line("messages sent", share * PRODUCERS, digits=0, remark=took),
        Line("messages delivered", len(told), share * PRODUCERS, "at least", digits=0),
        Line("messages delivered twice", sum(told.values()) - len(told), 0, digits=0),
        Line("processes that failed", len([code for code in codes if code]), 0, digits=0),
        Line("files left in the queue", len(_left(folder / QUEUE)), 0, digits=0),
    ]


def _start(what: str, *about: Any) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", __name__, what, *map(str, about)]
    # What is set aside is said in the log: not here, where it is planned.
    return subprocess.Popen(argv, cwd=ROOT, stderr=subprocess.DEVNULL)


def _plant(folder: Path, number: int) -> int:
    """Files that are no messages: empty, cut off, strange, not files at all; how many."""
    files = {
        f"0000{number}.empty.msg": b"",
        f"0000{number}.short.msg": b'{"body": "',
        f"strange-{number}": os.urandom(64),
        f"0000{number}.other.msg": b'{"properties": {"delivery_tag": 1}}',
    }
    with suppress(FileNotFoundError):
        for name, data in files.items():
            (folder / name).write_bytes(data)
        (folder / f"folder-{number}").mkdir()
        (folder / f"link-{number}").symlink_to("/etc/hostname")
        return len(files) + 2
    return 0


def _left(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name != transport.ASIDE]  # noqa: PTH208


def main(what: str, folder: Path, *about: str) -> None:
    """Be one of the processes."""
    if what == "produce":
        produce(folder, int(about[0]), int(about[1]))
    else:
        consume(folder, Path(about[0]))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
