"""What the log leaves out."""

import logging


def without_traceback(record: logging.LogRecord) -> bool:
    """Keep the line and drop the traceback: a request that is refused is no fault of ours."""
    record.exc_info = None
    return True
