"""Lines that begin an entry: with a label, or with the span of years that a station of a life took."""

from __future__ import annotations

import re

_ENTRY = re.compile(r"[^\W_][^:：\n]{0,40}(?::\s++|：\s*+)\S|(?:19|20)\d\d\s?[-–—]")


def begins_entry(line: str) -> bool:
    """Tell whether a line is one such as “Date: 14 March”, “電話番号：03” or “2015 – 2019 Data analyst”."""
    return _ENTRY.match(line) is not None
