"""What the log leaves out."""

import errno
import logging


def without_traceback(record: logging.LogRecord) -> bool:
    """Keep the line and drop the traceback: a request that is refused is no fault of ours."""
    record.exc_info = None
    return True


def not_stalled(record: logging.LogRecord) -> bool:
    """False for a client that fell silent in the midst of its headers: anyone can do that."""
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, BlockingIOError) and error.errno == errno.EAGAIN)
