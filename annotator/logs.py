"""What the log of the web server leaves out."""

import logging
from http import HTTPStatus


class ShortRefusals(logging.Filter):
    """Logs a refused request in one line: nothing failed, so there is no fault to trace."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record through; one of a refusal without its traceback."""
        status = getattr(record, "status_code", HTTPStatus.INTERNAL_SERVER_ERROR)
        if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            record.exc_info = None
        return True
