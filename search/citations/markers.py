"""Markers: a model's citations become `<source_N>`, while the text streams.

Models misspell (`<Source 1>`), group (`[1, 3]`, `<source_1, 2>`), and use habits from training
(`【1†source】`, `[^1]`, a finished `<citation id="…">[1]</citation>`). All of these become one marker for
each source. Only markers become citations: a citation that the model itself writes, or was told to write,
does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from runs.events import MAX_PARTIAL_BYTES, escaped_bytes

MARKER = re.compile(r"(?<!\\)<source_(\d{1,4})>")
"""After a backslash it is text, not a marker."""
MOST_SOURCES = 20
"""Contract §5: no answer has more contexts. `[2019]` is no citation, but a year in brackets."""

_GAP = r"[ \t]{0,2}"
_NAME = r"sources?[ \t_:#.-]{0,3}"
_JOIN = rf"{_GAP}(?:[,;&/–—-]|and\b){_GAP}"
_NUMBERS = rf"(?:{_NAME})?\d{{1,4}}(?:{_JOIN}(?:{_NAME})?\d{{1,4}}){{0,19}}"
_TAG_NAME = r"/?(?:web_)?citation\b"
_TAGS = rf"<{_TAG_NAME}[^<>\n]{{0,400}}>"
_WRITTEN = re.compile(
    rf"""(?<!\\)(?:
        <{_GAP}/?{_GAP}{_NAME}{_NUMBERS}{_GAP}/?{_GAP}>
      | [\[(【]{_GAP}{_NAME}{_NUMBERS}{_GAP}[\])】]
      | 【{_GAP}{_NUMBERS}{_GAP}(?:†[^】\n]{{0,60}})?】
      | (?P<bare>\[{_GAP}\^?\d{{1,4}}(?:{_JOIN}\^?\d{{1,4}}){{0,19}}{_GAP}\](?!\())
      | (?P<tag>{_TAGS})
    )
    | (?P<posing>\\?<(?={_TAG_NAME}))       # clients don't know that a backslash goes before a tag
    """,
    re.VERBOSE | re.IGNORECASE,
)
_OPENED = re.compile(r"<[\w/]*$")
LONGEST_TAG_NAME = len("</web_citation")
_LONGEST = 600
"""Nothing that `_WRITTEN` matches is longer, in characters: 20 numbers and all there may be between them."""
_MAY_BEGIN = re.compile(
    rf"""(?<!\\)(?:
        [<\[(【]{_GAP}/?{_GAP}\^?(?:s(?:o(?:u(?:r(?:c(?:e(?:s)?)?)?)?)?)?)?
      | [<\[(【]{_GAP}/?{_GAP}{_NAME}[\d \t,;&/–—^_:\#.A-Za-z-]*
      | [\[【]{_GAP}\^?\d[\d \t,;&/–—^A-Za-z-]*+(?:†[^】\n]{{0,60}}+)?
      | \[[\d \t,;&/–—^A-Za-z-]+\]
      | \\
    )$
    | \\?</?(?:w(?:e(?:b_?)?)?)?$
    | \\?</?(?:web_)?c(?:i(?:t(?:a(?:t(?:i(?:o(?:n[^<>\n]*)?)?)?)?)?)?)?$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_WORDS_AND_MARKERS = re.compile(r"\\?<source_\d{1,4}>|\s+|(?:(?!\\?<)\S)+|\\?<")


class MarkerStream:
    """Takes a model's text in fragments; yields partials in which every marker is whole and canonical.

    The joined partials, and `text`, do not depend on how the text is cut into fragments.
    """

    def __init__(self) -> None:
        self.text = ""
        """The canonical text so far."""
        self._written = ""
        self._settled = 0

    def feed(self, fragment: str) -> Iterator[str]:
        """Yield the text that can be sent; a possible beginning of a marker is held back."""
        self._written += fragment
        begun = _MAY_BEGIN.search(self._written, max(self._settled, len(self._written) - _LONGEST))
        yield from self._send(begun.start() if begun else len(self._written))

    def finish(self) -> Iterator[str]:
        """Yield the held-back text, which was no marker."""
        yield from self._send(len(self._written))

    def _send(self, end: int) -> Iterator[str]:
        ready = ""
        for written in _WRITTEN.finditer(self._written, self._settled):
            if written.end() > end:
                break
            ready += self._written[self._settled : written.start()] + _canonical(written)
            self._settled = written.end()
        ready += self._written[self._settled : end]
        self._settled = max(end, self._settled)
        self.text += ready
        yield from cut_partials(ready)


def seam(before: str) -> str:
    """Return the replacement for removed text after `before`: a space if the two sides could form a tag."""
    return " " if _OPENED.search(before[-LONGEST_TAG_NAME:]) else ""


def _canonical(written: re.Match[str]) -> str:
    """Return the markers for a match; text that is no citation is returned unchanged."""
    if written["tag"]:
        return seam(written.string[: written.start()])
    if written["posing"]:
        return "&lt;"
    numbers = _numbers(written.group())
    if written["bare"] and (max(numbers) > MOST_SOURCES or _is_code(written.string, written.start())):
        return written.group()
    return "".join(f"<source_{number}>" for number in numbers)


def _numbers(written: str) -> list[int]:
    """Return the numbers of a group, each once; `1-3` is 1, 2, 3."""
    numbers: list[int] = []
    # Digits after a dagger count lines of the source.
    for first, last in re.findall(r"(\d+)(?:[ \t]*[–—-][ \t]*(\d+))?", written.partition("†")[0]):
        low, high = int(first), int(last or first)
        numbers += range(low, high + 1) if low <= high <= low + MOST_SOURCES else [low, high]
    return list(dict.fromkeys(numbers))


def _is_code(text: str, at: int) -> bool:
    """Return whether a place lies in a code span or block, where `[1]` is an index."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line.count("`") % 2 == 1 or f"\n{text[:at]}".count("\n```") % 2 == 1


# --- Partials ----------------------------------------------------------------------------------------------


def cut_partials(text: str) -> Iterator[str]:
    """Cut text into pieces of at most `MAX_PARTIAL_BYTES`, never inside a marker."""
    piece = ""
    for token in _tokens(text):
        if piece and escaped_bytes(piece + token) > MAX_PARTIAL_BYTES:
            yield piece
            piece = ""
        piece += token
    if piece:
        yield piece


def _tokens(text: str) -> Iterator[str]:
    # Twelve bytes are the most that JSON spends on a character: a surrogate pair of escapes.
    step = MAX_PARTIAL_BYTES // 12
    for match in _WORDS_AND_MARKERS.finditer(text):
        token = match.group()
        if escaped_bytes(token) <= MAX_PARTIAL_BYTES:
            yield token
        else:
            yield from (token[i : i + step] for i in range(0, len(token), step))
