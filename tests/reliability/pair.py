"""The reader and the web server under the supervisor, as `make serve` runs them.

Without what `make serve` does before: it would refuse a disk of a few MB.
"""

from __future__ import annotations

import sys

from benchhub.serve import answers, reader_command, web_command
from benchhub.supervisor import Service, Supervisor, say


def main(port: int) -> None:
    """Serve until a signal."""
    reader = Service("the reader of uploads", reader_command())
    web = Service("the web server", web_command(), ready=lambda: answers("127.0.0.1", port))
    Supervisor([reader, web]).run(lambda: say("serving"))


if __name__ == "__main__":
    main(int(sys.argv[1]))
