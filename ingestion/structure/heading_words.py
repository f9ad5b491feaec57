"""Which paragraphs may be headings by their words and by how many lines they take."""

from __future__ import annotations

import re
from itertools import pairwise

from core.locations import Box
from core.text.numbering import Counting, Label, labels
from extract.base import Element, Kind
from ingestion.structure.places import line_boxes
from ingestion.structure.typography import is_in_capitals

HEADING_CHARS, HEADING_LINES = 160, 3
# “Item 5. Market for Registrant's Common Equity, …” goes on for longer.
NAMED_CHARS, NAMED_LINES = 280, 5
# A risk that is told in a sentence of bold type.
SENTENCE_CHARS, SENTENCE_LINES = 450, 6
FEWEST_LETTERS = 3
SENTENCE_INSIDE = re.compile(r"[.;:!?]\s+\S")
ENDS = (".", ",", ";", ":")
# Marks that lead from an author to an address.
NOTE_MARKS = re.compile(r"[†‡§¶∗*@]|\w\d,\d|[^\W\d_]{3}\d(?=,)")
COMMENT = re.compile(
    r"(fig(ure)?\.?|table|chart|exhibit|source|note:|algorithm|equation)\s*[\dIVX]+\b", re.IGNORECASE
)
# What stands above a box with advice, not above a section.
ADVICE = re.compile(
    r"(note|warning|caution|important|tip|hint|hinweis|anmerkung|warnung|achtung|wichtig|tipp|vorsicht"
    r"|remarque|attention|avertissement|astuce|nota|advertencia|importante|consejo)\W*",
    re.IGNORECASE,
)
DATE = re.compile(
    r"([^\W\d_]{3,9}\.? )?\d{1,2}(\.|,|th|st|nd|rd)? ([^\W\d_]{3,9}\.?,? )?\d{4}"
    r"|(jan|feb|fév|mar|mär|apr|avr|abr|ma[iy]|jun|juin|jul|juil|aug|août|ago|sep|o[ck]t|nov|de[czs]|déc|dic|ene)"
    r"[^\W\d_]{0,7}\.?,? \d{4}",
    re.IGNORECASE,
)
FIGURE = re.compile(r"fig(ure|\.)?\s*\d|abb(ildung|\.)\s*\d", re.IGNORECASE)
# An entry of a list of titles, with the number of its page: “3.1 The lamp . . . . 29”, “29 3.1 The lamp”.
ENTRY = re.compile(
    r"(?:[.…]\s?){4}|[^\W\d_]{2}\W{0,3}\s\d{1,4}\Z|\A\d{1,4}\s\d{1,2}(?:\.\d{1,2}){1,3}\s[^\W\d_]"
)
PAGE_NUMBER = re.compile(r"\A\d{1,4}\s|\s\d{1,4}\Z")
# Where somebody is reached: mail and web addresses, “Washington, D.C. 20549”.
ADDRESS = re.compile(r"[\w.+-]@[\w-]|\bhttps?://|\bwww\.\w|, [A-Z]\.?[A-Z]\.? \d{5}\b")
# The numbers along the axis of a plot.
AXIS = re.compile(r"[−–-]?\d[\d.,]{0,12}(?:\s[−–-]?\d[\d.,]{0,12}){1,30}")
TOWN = re.compile(r"[^\W\d_][\w. -]{1,40}, [A-Z]\.?[A-Z]\.? \d{5}(-\d{4})?")
# A line of a program or an option; whole sentences; a line that a bibliography parts within a word.
CODE = re.compile(r"[\\{}]|\A--?\w")
SENTENCES = re.compile(r"[^\W\d_]{4}[.]\s++[^\W\d_]")
# An entry of an index: “Lamps, 7, 44–46”.
IN_INDEX = re.compile(r",\s\d{1,3}(?:[–-]\d{1,3})?\Z")
LEADING_DOTS = re.compile(r"(?:[.…]\s?){4}")
# “Output: a table.”
LABELLED = re.compile(r"(?:\S{1,40}+\s){0,2}\S{1,40}+(?<=:)\s")
SIGN = re.compile(r"[∀-⋿=±×÷¬]")
WORD = re.compile(r"[^\W\d_]{3}")
PARTED = re.compile(r"[^\W\d_]-\Z")
# Between the words of a numbered title there is less room, in type sizes.
WIDE_GAP = 2.0
# The width of a page's number, in type sizes.
FIGURE_WIDTH = 2.5
BULLET = re.compile(r"[•●○▪■◦‣·–—*-]\s")
IN_BRACKETS = re.compile(r"\([^()]*\)")
PAGE_IN_ROMAN = re.compile(r"[ivxlc]+")


def sure_label(text: str) -> Label | None:
    """Return the number with which a text begins; an “A” without a mark may be the article."""
    return next((label for label in labels(text) if not _is_bare_letter(label)), None)


def reads_like_heading(element: Element) -> bool:
    """Whether an element is short enough, no sentence, no row of cells, and no comment on something else."""
    if element.kind is not Kind.PARAGRAPH or element.font_size is None:
        return False
    text, label = element.text, sure_label(element.text)
    is_named = label is not None and label.counting is Counting.NAMED
    if len(text) > (NAMED_CHARS if is_named else HEADING_CHARS) or not _has_words(text):
        return False
    if BULLET.match(text):
        return False
    if (
        COMMENT.match(text)
        or PARTED.search(text)
        or LEADING_DOTS.search(text)
        or (label is None and _is_no_title(text))
    ):
        return False
    if text.endswith(ENDS) and not _may_end_so(text, label):
        return False
    boxes = line_boxes(element)
    # The words of a justified title stand further apart than others; those of a table do, too.
    gap = WIDE_GAP * element.font_size if label else 0.0
    cells = sum(same_row(left, right) and right.x1 - left.x2 >= gap for left, right in pairwise(boxes))
    pieces = sum(same_row(left, right) for left, right in pairwise(boxes))
    # A number and its title may stand apart, as cells do.
    ends_apart = cells and _is_apart(boxes[-1], element) and _ends_in_figure(text, label)
    is_row = cells > (1 if any(labels(text)) else 0) or ends_apart
    if _is_upright(element) or is_row:
        return False
    return len(boxes) - pieces <= (NAMED_LINES if is_named else HEADING_LINES)


def is_sentence(element: Element) -> bool:
    """Whether an element is a sentence that is short enough to head a section."""
    if element.kind is not Kind.PARAGRAPH or element.font_size is None:
        return False
    text = element.text
    return (
        HEADING_LINES < len(text) <= SENTENCE_CHARS
        and text.endswith(".")
        and text[:1].isupper()
        and not COMMENT.match(text)
        and not LABELLED.match(text)
        and len(line_boxes(element)) <= SENTENCE_LINES
    )


def same_row(left: Box, right: Box) -> bool:
    """Whether a box stands to the right of another one, on its line."""
    return right.x1 >= left.x2 and right.y1 < (left.y1 + left.y2) / 2 < right.y2


def _has_words(text: str) -> bool:
    """Whether a text has letters enough, and is neither a formula, a date, a remark nor a page's number."""
    if sum(map(str.isalpha, text)) < FEWEST_LETTERS or (SIGN.search(text) and not WORD.search(text)):
        return False
    return not any(form.fullmatch(text) for form in (ADVICE, DATE, IN_BRACKETS, PAGE_IN_ROMAN))


def _is_no_title(text: str) -> bool:
    """Whether a text without a number is an address, authors with marks, a program, sentences, an entry."""
    if any(form.search(text) for form in (ADDRESS, CODE, SENTENCES, IN_INDEX)):
        return True
    return len(NOTE_MARKS.findall(text)) > 1


def _may_end_so(text: str, label: Label | None) -> bool:
    """Whether a title ends in a stop: “Item 1. Business.”, “ABOUT THE COMPANY:”."""
    if text.endswith(":"):
        return is_in_capitals(text)
    return bool(label) and text.endswith(".") and not SENTENCE_INSIDE.search(text, label.end if label else 0)


def _is_apart(box: Box, element: Element) -> bool:
    """Whether a box holds no more than a short figure: “Changes in version 3” has it among its words."""
    return box.x2 - box.x1 <= FIGURE_WIDTH * (element.font_size or 0.0)


def _ends_in_figure(text: str, label: Label | None) -> bool:
    """Whether a text ends as a table row or an entry of contents does; “6.3.1 IPv4 and IPv6” does not."""
    return text[-1].isdigit() and not (label and label.depth > 1 and not text.rsplit(None, 1)[-1].isdigit())


def _is_upright(element: Element) -> bool:
    """Whether a line runs from bottom to top, as a stamp along the margin does; a lone “1” is high anyhow."""
    boxes = element.located.boxes()
    longest = max((run.words[-1][1] - run.words[0][0] for run in element.located.runs), default=0)
    return longest >= FEWEST_LETTERS and all(
        line.box.y2 - line.box.y1 > line.box.x2 - line.box.x1 for line in boxes
    )


def _is_bare_letter(label: Label) -> bool:
    return label.counting is Counting.LETTERED and label.depth == 1
