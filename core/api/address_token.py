"""`?token=`: a token in an address, where browsers can't set headers (contract §2)."""

from __future__ import annotations

import logging
import re

ADDRESS_TOKEN = "token"  # noqa: S105
_IN_TEXT = re.compile(rf"([?&]{ADDRESS_TOKEN}=)[^&#\s\"'<>]+", re.IGNORECASE)


def takes_address_token(view: object, method: str) -> bool:
    """Whether the operation of a view for this HTTP method takes `?token=`."""
    return bool(getattr(getattr(view, method.lower(), None), "takes_address_token", False))


class AddressTokenFilter(logging.Filter):
    """Removes tokens in addresses from log records: a log lives longer, and is read by more people."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Accept every record."""
        message = record.getMessage()
        if f"{ADDRESS_TOKEN}=" in message.lower():
            record.msg, record.args = _IN_TEXT.sub(r"\1…", message), None
        return True
