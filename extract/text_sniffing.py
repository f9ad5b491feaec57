"""Detects the kind of a text by the syntax of its first lines.

Own rules rather than a model, which would take 0.6 s and 75 MB in the process of each file (docs/adr/0012).
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

PROLOG = re.compile(r"(?:\s++|<!--.*?(?:-->|\Z)|<\?[^<>]*+>)*+", re.DOTALL)
HTML_START = re.compile(r"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
HTML_TAG = re.compile(
    r"<(?:p|div|span|table|tr|td|body|head|h[1-6]|ul|ol|li|br|meta|img|b|i|strong|em|title|section)[\s/>]|<a\s",
    re.IGNORECASE,
)
XML_START = re.compile(r"(<\?xml\s|<!DOCTYPE\s|<[A-Za-z_][\w:.-]*(\s+[\w:.-]+\s*=\s*[\"'][^<]*?)?\s*/?>)")

ATX = re.compile(r" {0,3}#{1,6} +\S")
MARKDOWN = (
    re.compile(r"^ {0,3}(```|~~~)"),
    re.compile(r"\[[^\]\n]{1,100}\]\([^)\s]{1,200}\)"),
    re.compile(r"(\*\*|__)\w[^*_\n]{0,80}\1"),
    re.compile(r"^\s*[-*+] +\[[ xX]\] "),
    re.compile(r"^[-*+] +\S"),
)
# The beginning and end of a line show what it is; so many characters are looked at.
LINE_START, LINE_END = 200, 100

DEFINES = "def|class|func|fn|function|sub|module|namespace|interface|struct|enum|trait|impl"
CONTROLS = (
    "if|elif|else|for|while|try|except|finally|with|switch|case|match|return|raise|yield|let|var|const|local|"
    "end|then|fi|done|do|esac"
)
CODE_LINE = re.compile(
    rf"""\A\s*+(?:
    .*[;{{}}]\s*+(?://.*|/\*.*)?$
    | (?:@\w|\#!/|\#\s*(?:include|define|ifn?def|endif|pragma)\b|//|/\*|\*\s|\*/|--\s)
    | (?:async\s+)?(?:{DEFINES})\s+\w.*[:({{=\[]
    | (?:import|from|using|package|require|use|include)\s+[\w."'@{{*(<][^.!?]*+$
    | (?:{CONTROLS})\b.*[:({{=\[\])}}"';\w]$
    | (?:public|private|protected|static|final|export|pub)\s+\w
    | [\w.\[\]"'$]++(?:\s?:\s?[\w\[\], .|]{{1,60}})?\s?(?:[-+*/|&:]?=|:=|<-)\s*\S
    | [\w.$]++\(.*$
    | [)\]}}]++[,;]?$
    | \w++=\S
    | (?:SELECT|INSERT|CREATE|UPDATE|DELETE|ALTER|DROP)\s+[A-Z]
    )""",
    re.VERBOSE,
)
# Comments, and examples in a document, say little about whether a text is a program.
COMMENT = re.compile(r'"""(?:.*?)(?:"""|\Z)|/\*.*?(?:\*/|\Z)|<!--.*?(?:-->|\Z)', re.DOTALL)
FENCED = re.compile(r"^ {0,3}(```|~~~).*?^ {0,3}\1[^\n]*$", re.DOTALL | re.MULTILINE)
COMMENT_LINE = re.compile(
    r"\A\s*+(?:#(?!\s*+(?:include|define|if|ifn?def|el|endif|pragma|undef)\b)|//|--|%|;|\*)"
)
CODE_SHARE, DENSE = 0.5, 0.06

DELIMITERS = "\t,;|"
SAMPLE_ROWS = 50
LONGEST_CELL = 120


def sniff_text(text: str, *, is_whole: bool) -> str:
    """Return the kind of a text from its beginning; `is_whole` says that this is all of it."""
    text = text.lstrip("\ufeff")
    if not is_whole and "\n" in text:
        text = text[: text.rindex("\n") + 1]
    for kind, recognises in (("eml", is_mail), ("json", is_json), ("html", is_html), ("xml", is_xml)):
        if recognises(text):
            return kind
    if is_code(text):
        return "code"
    if is_markdown(text):
        return "md"
    if delimiter := delimiter_of(text):
        return "tsv" if delimiter == "\t" else "csv"
    return "txt"


def is_mail(text: str) -> bool:
    """Whether a text starts with headers that mail programs write."""
    if text.startswith(("From ", ">From ")):
        text = text.partition("\n")[2]
    found, at = set(), 0
    text = text.replace("\r\n", "\n")
    while header := MAIL_HEADER.match(text, at):
        found.add(header[1].lower())
        at = header.end()
    return len(found & MAIL_HEADERS) >= FEWEST_MAIL_HEADERS


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
    """Whether most lines outside comments and fences look like those of a program."""
    if text.startswith("#!"):
        return True
    bare = COMMENT.sub("", FENCED.sub("", text))
    lines = [line for line in _line_ends(bare) if line.strip() and not COMMENT_LINE.match(line)]
    like_code = sum(CODE_LINE.match(line) is not None for line in lines)
    is_dense = len(re.findall(r"[{}();=]", bare)) > DENSE * len(bare)
    return bool(lines) and (like_code >= CODE_SHARE * len(lines) or (is_dense and like_code > 0))


def is_markdown(text: str) -> bool:
    """Whether a text uses Markdown's markup: a heading that stands alone, or several other marks."""
    lines = ["", *_line_ends(text), ""]
    headings = sum(
        ATX.match(line) is not None and not before.startswith("#") and not after.startswith("#")
        for before, line, after in zip(lines, lines[1:], lines[2:], strict=False)
    )
    marks = sum(any(mark.search(line) for line in lines if line) for mark in MARKDOWN)
    marks += any(map(_is_table_rule, lines))
    comments = sum(line.startswith("#") for line in lines) - headings
    return (headings > comments) or marks >= 2


def _is_table_rule(line: str) -> bool:
    """Return whether a line separates the head of a table from its rows: `| --- | :---: |`."""
    cells = line.removeprefix("|").removesuffix("|").split("|")
    return len(cells) > 1 and all("---" in cell and not cell.strip(" :-") for cell in cells)


def _line_ends(text: str) -> list[str]:
    ends = ((line[:LINE_START], line[LINE_START:][-LINE_END:]) for line in text.split("\n"))
    return [(start + end).rstrip() for start, end in ends]


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
