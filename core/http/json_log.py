"""Log lines as JSON objects, one a line, for collectors of logs (`LOG_FORMAT=json`)."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from core.http.request_id import current_request_id


class JsonFormatter(logging.Formatter):
    """Writes time (UTC), level, logger and message, and the request's id and the traceback where there are.

    Other fields of records are left out: they may hold what no log should.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
        }
        if id := current_request_id():
            line["request_id"] = id
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)
