"""Detects the kind of a text by the syntax of its first lines, and by the extension of its file's name.

The extension decides only between source code, Markdown and other plain text: there no rule knows better, and
a wrong extension does no harm. A text without a known extension gets a rough guess (docs/adr/0012).
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator

from extract.json_tokens import Malformed, tokens

MAIL_HEADER = re.compile(r"(?<![A-Za-z0-9-])([A-Za-z][A-Za-z0-9-]*+):[^\n]*+(?:\n[ \t][^\n]*+)*+(?:\n|$)")
MAIL_HEADERS = frozenset(
    "from to cc bcc subject date message-id mime-version received return-path reply-to content-type sender "  # noqa: SIM905
    "delivered-to content-transfer-encoding x-mailer dkim-signature".split()
)
FEWEST_MAIL_HEADERS = 3
ANOTHER_LETTER = re.compile(r"(?<=\n\n)From [^\n]*+\n[A-Za-z-]++:")

PROLOG = re.compile(r"(?:\s++|<!--.*?(?:-->|\Z)|<\?[^<>]*+>)*+", re.DOTALL)
HTML_START = re.compile(r"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
HTML_TAG = re.compile(
    r"<(?:p|div|span|table|tr|td|body|head|h[1-6]|ul|ol|li|br|meta|img|b|i|strong|em|title|section)[\s/>]|<a\s",
    re.IGNORECASE,
)
ANY_TAG = re.compile(r"</?[a-z][a-z\d]{0,20}[\s/>]", re.IGNORECASE)
XML_START = re.compile(r"(<\?xml\s|<!DOCTYPE\s|<[A-Za-z_][\w:.-]*(\s+[\w:.-]+\s*=\s*[\"'][^<]*?)?\s*/?>)")

ATX = re.compile(r" {0,3}#{1,6} +\S")
# Of a text whose name tells nothing, most lines of source code begin or end so.
CODE_WORDS = (
    "def class import return function func fn const let var public private static export package use using "
    "SELECT INSERT CREATE UPDATE"
)
CODE_STARTS = ("@", "}", ")", "]", "//", "/*", "* ", "#include", *(f"{word} " for word in CODE_WORDS.split()))
CODE_ENDS = (";", "{", "}", "(", "[", "):", "->", "=>")

# The first line of times in SubRip files stands below a number.
SRT_TIMES = re.compile(
    r"\A\s*+\d{1,9}[ \t]*+\n[ \t]*+\d{1,3}:\d\d:\d\d[,.]\d{1,3}[ \t]*+-->[ \t]*+\d{1,3}:\d\d:\d\d"
)

DELIMITERS = "\t,;|"
SAMPLE_ROWS = 50
LONGEST_CELL = 120


def sniff_text(text: str, promised: str | None, *, is_whole: bool) -> str:
    """Return the kind of a text from its beginning; `is_whole` says that this is all of it.

    `promised` is the kind that the file's extension stands for, None for an unknown one.
    """
    if promised in ("code", "md"):
        return promised
    text = text.lstrip("\ufeff")
    if not is_whole and "\n" in text:
        text = text[: text.rindex("\n") + 1]
    if subtitle_syntax(text):
        return "subtitles"
    if promised == "mbox" and text.startswith("From ") and is_mail(text):
        return "mbox"
    for kind, recognises in (
        ("mhtml", is_saved_page),
        ("mbox", is_mailbox),
        ("eml", is_mail),
        ("json", is_json),
        ("html", is_html),
        # A piece of a web page may begin with any tag, or with words.
        ("html", lambda text: promised == "html" and ANY_TAG.search(text) is not None),
        ("xml", is_xml),
    ):
        if recognises(text):
            return kind
    if promised not in ("txt", "csv", "tsv") and is_code(text):
        return "code"
    if promised not in ("csv", "tsv") and is_markdown(text):
        return "md"
    if delimiter := delimiter_of(text):
        return "tsv" if delimiter == "\t" else "csv"
    return "txt"


def subtitle_syntax(text: str) -> str | None:
    """Return `vtt`, `srt` or `ass` for subtitles, None for any other text."""
    text = text.lstrip("\ufeff").replace("\r\n", "\n")
    if text.startswith("WEBVTT") and text[6:7] in ("", " ", "\t", "\n"):
        return "vtt"
    if text.startswith("[Script Info]"):
        return "ass"
    return "srt" if SRT_TIMES.match(text) else None


def is_mail(text: str) -> bool:
    """Whether a text starts with headers that mail programs write."""
    if text.startswith(("From ", ">From ")):
        text = text.partition("\n")[2]
    return len(set(_headers(text)) & MAIL_HEADERS) >= FEWEST_MAIL_HEADERS


def is_mailbox(text: str) -> bool:
    """Whether a text starts with two letters of a mailbox."""
    if not text.startswith("From ") or not is_mail(text):
        return False
    following = ANOTHER_LETTER.search(text.replace("\r\n", "\n"), 1)
    return following is not None


def is_saved_page(text: str) -> bool:
    """Whether a text starts with the headers of a web page that was saved with what it needs."""
    headers = _headers(text)
    kind = headers.get("content-type", "")
    is_page = "snapshot-content-location" in headers or "<saved by " in headers.get("from", "")
    is_sent = headers.keys() & {"to", "received", "message-id", "delivered-to"}
    return kind.startswith("multipart/related") and "mime-version" in headers and (is_page or not is_sent)


def _headers(text: str) -> dict[str, str]:
    """Return the headers at the beginning of a text, all in lower case."""
    found, at = {}, 0
    text = text.replace("\r\n", "\n")
    while header := MAIL_HEADER.match(text, at):
        name, _, value = header[0].lower().partition(":")
        found[name.strip()] = value.strip()
        at = header.end()
    return found


def is_json(text: str) -> bool:
    """Whether a text starts as JSON, or as JSON values line by line."""
    start = text.lstrip()[:1]
    if start not in ("{", "["):
        return False
    seen = 0
    try:
        for seen, _ in enumerate(tokens(text, may_be_cut=True), start=1):  # noqa: B007
            pass
    except Malformed:
        return False
    return seen > 1


def is_html(text: str) -> bool:
    """Whether a text starts like a web page, or is a piece of one."""
    start = PROLOG.match(text)
    body = text[start.end() if start else 0 :]
    if HTML_START.match(body):
        return True
    looks_xml = text.lstrip().startswith("<?xml")
    return HTML_TAG.match(body) is not None and not looks_xml and len(HTML_TAG.findall(body[:4096])) >= 2


def is_xml(text: str) -> bool:
    """Whether a text starts as XML."""
    start = PROLOG.match(text)
    body = text[start.end() if start else 0 :]
    return text.lstrip().startswith("<?xml") or XML_START.match(body[:4096]) is not None


def is_code(text: str) -> bool:
    """Whether most lines are indented, assign something, or begin or end as lines of source code do."""
    lines = [line for line in text.split("\n") if line.strip()]
    return text.startswith("#!") or 2 * sum(map(_is_like_code, lines)) > len(lines)


def _is_like_code(line: str) -> bool:
    if line.startswith(("    ", "\t")) or " = " in line:
        return True
    return line.lstrip().startswith(CODE_STARTS) or line.rstrip().endswith(CODE_ENDS)


def is_markdown(text: str) -> bool:
    """Whether a text has a fence, a link, or more headings that stand alone than other lines with `#`."""
    lines = ["", *text.split("\n"), ""]
    headings = sum(
        ATX.match(line) is not None and not before.startswith("#") and not after.startswith("#")
        for before, line, after in zip(lines, lines[1:], lines[2:], strict=False)
    )
    comments = sum(line.startswith("#") for line in lines) - headings
    return headings > comments or "\n```" in text or "](http" in text


# --- Tables ------------------------------------------------------------------------------------------------


def delimiter_of(text: str) -> str | None:
    """Return the character between the cells of a table in text form, None if it is no table."""
    candidates = ((_consistency(text, delimiter), delimiter) for delimiter in DELIMITERS)
    best, delimiter = max(candidates, key=lambda candidate: candidate[0])
    return delimiter if best > 0 else None


def _consistency(text: str, delimiter: str) -> float:
    """Return how much like a table a text looks when cut at a delimiter: its columns times the share of
    regular rows."""
    rows = [row for row in _rows(text, delimiter) if any(cell.strip() for cell in row)]
    if len(rows) < 2:
        return 0
    columns, regular = Counter(map(len, rows)).most_common(1)[0]
    cells = [cell for row in rows for cell in row if cell]
    if columns < 2 or regular < 0.8 * len(rows) or not cells:
        return 0
    if delimiter == "," and _reads_as_prose(cells, len(rows), columns):
        return 0
    return 0 if sum(map(len, cells)) > LONGEST_CELL * len(cells) else columns * regular / len(rows)


def _reads_as_prose(cells: list[str], rows: int, columns: int) -> bool:
    """Whether the commas are punctuation: a space follows them, and their number differs from row to row."""
    spaced = sum(cell.startswith(" ") for cell in cells) / len(cells)
    return spaced > 0.3 and (rows < 5 or (columns < 3 and sum(map(len, cells)) > 20 * len(cells)))


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter)
    try:
        for _, row in zip(range(SAMPLE_ROWS), reader, strict=False):
            yield row
    except csv.Error:
        return
