"""Run-in headings: bold or italic words at the beginning of a paragraph that name what it is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from extract.base import Element, Kind
from ingestion.structure.heading_words import ADVICE, BULLET, COMMENT, FEWEST_LETTERS

TITLE_CHARS, FEWEST_CHARS_AFTER = 100, 40
# A document has several, and none comes back so often: then it is a mark, such as “Example.”
FEWEST_ALIKE, OFTEN = 2, 4
STOP = r"[.:?!—–]"
ENDS, BEGINS = re.compile(rf"{STOP}\Z"), re.compile(rf"\s?(?:{STOP}|-\s)")
WORKS = re.compile(
    r"\b(references|bibliography|literature|literatur|literaturverzeichnis|références|bibliographie|referencias)\b",
    re.IGNORECASE,
)
STATEMENT = re.compile(
    r"(theorem|lemma|proof|corollary|definition|proposition|remark|example|satz|beweis|beispiel|théorème"
    r"|preuve|exemple)\b",
    re.IGNORECASE,
)


def mark_run_in_headings(elements: Sequence[Element]) -> list[Element]:
    """Return the elements; only those that begin with a run-in heading have a `lead`."""
    titles = list(_titles(elements))
    counts = Counter(title for title in titles if title)
    marked = {title for title, count in counts.items() if count < OFTEN}
    if sum(title in marked for title in titles) < FEWEST_ALIKE:
        marked = set()
    return [
        element if not element.lead or title in marked else replace(element, lead=0)
        for element, title in zip(elements, titles, strict=True)
    ]


def _titles(elements: Sequence[Element]) -> Iterator[str]:
    """Yield what may be the run-in heading of each element, else ""; works are italic in lists of them."""
    is_list_of_works = False
    for element in elements:
        if element.kind is Kind.HEADING:
            is_list_of_works = WORKS.search(element.text) is not None
        yield "" if is_list_of_works or not _may_have_one(element) else run_in_title(element)


def run_in_title(element: Element) -> str:
    """Return the words of an element's lead, without the stop that ends them."""
    return element.text[: element.lead].strip().rstrip(".:—–- ")


def _may_have_one(element: Element) -> bool:
    text, lead = element.text, element.text[: element.lead].strip()
    if element.kind is not Kind.PARAGRAPH or not 0 < len(lead) <= TITLE_CHARS:
        return False
    if len(text) - len(lead) < FEWEST_CHARS_AFTER or sum(map(str.isalpha, lead)) < FEWEST_LETTERS:
        return False
    if not (lead[0].isupper() or lead[0].isdigit() or lead[0] == "("):
        return False
    if any(form.match(lead) for form in (COMMENT, STATEMENT, BULLET)) or ADVICE.fullmatch(lead):
        return False
    return bool(ENDS.search(lead) or BEGINS.match(text, element.lead))
