"""Which paragraphs are headings: by their type, by numbers that the document counts, by what follows them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from core.text.numbering import Label, counted, labels
from extract.base import Element, Kind
from ingestion.structure.heading_words import (
    AXIS,
    ENTRY,
    FIGURE,
    PAGE_NUMBER,
    TOWN,
    is_sentence,
    reads_like_heading,
    sure_label,
)
from ingestion.structure.lists import LIST_ITEM
from ingestion.structure.places import line_boxes
from ingestion.structure.surroundings import (
    LARGER,
    PARAGRAPH_CHARS,
    SAME_EDGE,
    SURELY_LARGER,
    TITLE_CHARS,
    Surroundings,
    left_of,
)
from ingestion.structure.typography import Look, Type, Typography, is_in_capitals, look_of

# A title in italics or capitals is followed by a paragraph, and is not the only one of its kind; a shorter
# text that leads to a list or table will do. Where so many are alike, the others of their kind need none.
FEWEST_ALIKE, MANY_ALIKE = 2, 5
FEWEST_SENTENCES, FEWEST_TERMS = 3, 3
CONTENTS = re.compile(
    r"(?i:(table of )?contents|inhalt(sverzeichnis)?|table des matières|sommaire|índice|indice)"
)
MOST_CONTENTS = 3
# A page lists titles if it has so many entries, and they are most of its texts.
FEWEST_ENTRIES = 6
RUNNING_LINES = frozenset({Kind.PAGE_HEADER, Kind.PAGE_FOOTER})
# Below the title of a paper stand so many lines at most, and somebody's place of work or the date are among
# them. “Highlights of 2024” above a paragraph is no date.
ABSTRACT = re.compile(
    r"(abstract|summary|introduction|(table of )?contents|zusammenfassung|inhalt|résumé|sommaire|resumen)\W*",
    re.IGNORECASE,
)
WORKPLACE = re.compile(r"(?i:universi|institut|departe?ment|fakult|faculty|college|laborator|@)")
DATED = re.compile(r" at |\b(19|20)\d\d\b")
MOST_BELOW_TITLE = 12
NO_LETTERS = re.compile(r"[\W_]+")
# What stands on a page so often is a cell.
OFTEN = 3


@dataclass(frozen=True, slots=True)
class Heading:
    """What a heading's level follows from: how it is set, and the number by which the document counts it."""

    type: Type
    capitals: bool
    label: Label | None = None


def find_headings(
    elements: Sequence[Element], typography: Typography, recognised: frozenset[int] = frozenset()
) -> list[Heading | None]:
    """Return for each element what makes it a heading, or None; `recognised` pages were images."""
    page = _Candidates(elements, typography, recognised)
    candidates = page.candidates()
    numbers = counted(
        [list(labels(e.text)) if is_one else [] for e, is_one in zip(elements, candidates, strict=True)]
    )
    terms = page.terms(candidates)
    titles = (page.titles(candidates) - terms) | page.sentences() | page.table_titles()
    titles |= page.recognised_titles()
    found = [
        Heading(page.type_of(at), is_in_capitals(element.text), label)
        if at in titles or (candidates[at] and (label or (at not in terms and page.is_set_as_heading(at))))
        else None
        for at, (element, label) in enumerate(zip(elements, numbers, strict=True))
    ]
    others = _entries_of_contents(elements, found) | page.authors(found)
    return [None if at in others else heading for at, heading in enumerate(found)]


def _entries_of_contents(elements: Sequence[Element], found: Sequence[Heading | None]) -> set[int]:
    """Return the positions of titles below “Contents” that come again as headings of other pages."""
    pages = [element.located.page_number() for element in elements]
    begins = {
        page: at
        for at, (page, each) in enumerate(zip(pages, elements, strict=True))
        if each.kind is Kind.PARAGRAPH and CONTENTS.fullmatch(each.text)
    }
    # Elsewhere “Table of contents” leads back to them from each page.
    if len(begins) > MOST_CONTENTS:
        return set()
    titles = [NO_LETTERS.sub("", each.text).casefold() for each in elements]
    others = {
        title
        for title, page, heading in zip(titles, pages, found, strict=True)
        if heading and page not in begins
    }
    return {
        at for at, page in enumerate(pages) if page in begins and at > begins[page] and titles[at] in others
    }


class _Candidates(Surroundings):
    """Which elements are headings, for one reason or another."""

    @cached_property
    def listing_pages(self) -> frozenset[int]:
        """The pages that list titles: of contents, of figures."""
        texts: Counter[int] = Counter()
        entries: Counter[int] = Counter()
        for page, element in zip(self.pages, self.elements, strict=True):
            if page is not None and element.kind is Kind.PARAGRAPH:
                texts[page] += 1
                entries[page] += ENTRY.search(element.text) is not None
        return frozenset(
            page for page, count in entries.items() if count >= FEWEST_ENTRIES and 2 * count > texts[page]
        )

    def candidates(self) -> list[bool]:
        """Return which elements read like headings, stand out and are no cells."""
        found = [
            reads_like_heading(element)
            and (self.stands_out(at) or self.is_plain_title(at))
            and not self.is_cell(at)
            and not self.is_in_listing(at)
            and not self.leads_to_no_text(at)
            and not self.is_part(at)
            for at, element in enumerate(self.elements)
        ]
        repeated = Counter(zip(self.pages, (each.text for each in self.elements), strict=True))
        return [
            is_one and repeated[page, element.text] < OFTEN
            for is_one, page, element in zip(found, self.pages, self.elements, strict=True)
        ]

    def leads_to_no_text(self, at: int) -> bool:
        """Whether an element heads a letter, with a town and its code below, or a plot, with its axis."""
        after = self.after[at]
        if after is None or after.kind is not Kind.PARAGRAPH or sure_label(self.elements[at].text):
            return False
        return any(form.fullmatch(after.text) for form in (TOWN, AXIS))

    def is_part(self, at: int) -> bool:
        """Whether a text without a number belongs to a list of titles, a drawing, a program or a sentence."""
        text = self.elements[at].text
        if self.pages[at] in self.listing_pages and PAGE_NUMBER.search(text):
            return True
        if sure_label(text):
            return False
        return self.is_in_drawing(at) or self.is_keyword(at) or self.goes_on(at)

    def is_in_drawing(self, at: int) -> bool:
        """Whether only short texts stand between a text, off the edges of all others, and a caption below."""
        if any(abs(self.left(at) - edge) <= SAME_EDGE for edge in self.typography.edges):
            return False
        for other in range(at + 1, len(self.elements)):
            element = self.elements[other]
            if self.pages[other] != self.pages[at] or element.kind is not Kind.PARAGRAPH:
                return False
            if FIGURE.match(element.text):
                return True
            if len(element.text) >= PARAGRAPH_CHARS and self.is_running(other):
                return False
        return False

    def is_keyword(self, at: int) -> bool:
        """Whether a text in small letters leads to no paragraph: “else” in a program, a plot's title.

        On the first page it may be the title of all.
        """
        is_larger = Type.of(self.elements[at]).size >= LARGER * self.running(at).size
        is_title = is_larger and self.pages[at] == self.pages[0]
        return self.elements[at].text[:1].islower() and not is_title and not self.heads(at)

    def goes_on(self, at: int) -> bool:
        """Whether a text at the end of its page is continued by a small letter on the next one."""
        for other in range(at + 1, len(self.elements)):
            if self.elements[other].kind not in RUNNING_LINES:
                return self.pages[other] != self.pages[at] and self.elements[other].text[:1].islower()
        return False

    def authors(self, found: Sequence[Heading | None]) -> set[int]:
        """Return the positions of what stands below a paper's title: authors, where they work, the date.

        All of it is in the middle or ends where the title ends. It goes on until the abstract, or ends with
        the last line that names a place of work or a date.
        """
        on_first = [at for at, page in enumerate(self.pages) if page == self.pages[0] and found[at]]
        if not on_first or self.pages[0] is None:
            return set()
        size = max(self.type_of(at).size for at in on_first)
        title = max(at for at in on_first if self.type_of(at).size == size)
        below: list[int] = []
        end = 0
        for at in range(title + 1, len(self.elements)):
            text = self.elements[at].text
            if ABSTRACT.fullmatch(text):
                end = len(below)
                break
            if self.pages[at] != self.pages[0] or (sure_label(text) and not DATED.search(text)):
                break
            if self.is_running(at) and len(text) >= PARAGRAPH_CHARS:
                break
            if self.elements[at].kind is Kind.PARAGRAPH:
                below.append(at)
                end = len(below) if self.is_authored(at) else end
        is_placed = all(
            self.is_in_middle(at) or self.is_centred_with(at, title) or self.ends_with(at, title)
            for at in below[:end]
        )
        return set(below[:end]) if is_placed and end <= MOST_BELOW_TITLE else set()

    def is_authored(self, at: int) -> bool:
        """Whether a line names a place of work or, unless a paragraph stands below it, a date."""
        text = self.elements[at].text
        return bool(WORKPLACE.search(text) or (DATED.search(text) and not self.heads(at)))

    def is_set_as_heading(self, at: int) -> bool:
        """Whether an element is larger than running text, or bold and where paragraphs begin."""
        running, own = self.running(at), Type.of(self.elements[at])
        if self.is_recognised(at):
            return self.is_surely_larger(at) and self.is_narrow(at)
        if own.size >= SURELY_LARGER * running.size:
            return True
        stands_out = own.size >= LARGER * running.size or (own.bold and not running.bold)
        return stands_out and self.is_aligned(at)

    def recognised_titles(self) -> set[int]:
        """Return the positions of short lines above paragraphs, on pages whose type nobody knows."""
        return {
            at
            for at, element in enumerate(self.elements)
            if self.is_recognised(at)
            and reads_like_heading(element)
            and len(line_boxes(element)) == 1
            and len(element.text) <= TITLE_CHARS
            and (after := self.after[at])
            and after.kind is Kind.PARAGRAPH
            and len(line_boxes(after)) > 1
            and self.heads(at)
            and self.is_narrow(at)
            and self.is_aligned(at)
            and not self.is_cell(at)
        }

    def titles(self, candidates: Sequence[bool]) -> set[int]:
        """Return the positions of lines in italics or capitals above paragraphs, but for one of its kind."""
        possible = [
            at
            for at, is_candidate in enumerate(candidates)
            if is_candidate and self.elements[at].text[:1].isupper() and self.is_aligned(at)
        ]
        heading = {at for at in possible if self.heads(at) and self.is_running(at + 1)}
        alike = Counter(look_of(self.elements[at]) for at in heading)
        edges = {(look_of(self.elements[at]), self.left(at)) for at in heading}
        found = {at for at in heading if alike[look_of(self.elements[at])] >= FEWEST_ALIKE}
        for at in reversed(possible):
            look = look_of(self.elements[at])
            if alike[look] >= MANY_ALIKE and (look, self.left(at)) in edges and self.after[at]:
                found.add(at)
            if alike[look] >= FEWEST_ALIKE and at + 1 in found and self.after[at]:
                found.add(at)
        return found

    def sentences(self) -> set[int]:
        """Return the positions of sentences in bold type above paragraphs, if there are several alike."""
        found = [
            at
            for at, element in enumerate(self.elements)
            if is_sentence(element)
            and element.bold
            and not self.running(at).bold
            and self.after[at]
            and self.is_running(at + 1)
            and self.is_aligned(at)
            and not self.stands_smaller(at)
        ]
        alike = Counter(Type.of(self.elements[at]) for at in found)
        return {at for at in found if alike[Type.of(self.elements[at])] >= FEWEST_SENTENCES}

    def table_titles(self) -> set[int]:
        """Return the positions of bold lines above tables, in the middle or where the table begins."""
        return {
            at
            for at, element in enumerate(self.elements)
            if element.bold
            and reads_like_heading(element)
            and element.text[:1].isupper()
            and (table := self.table_below(at))
            and not self.is_cell(at)
            and (self.is_in_middle(at) or abs(left_of(table) - self.left(at)) <= SAME_EDGE)
        }

    def terms(self, candidates: Sequence[bool]) -> set[int]:
        """Return the positions of bold terms that the indented texts below them explain."""
        indented: list[int] = []
        others: Counter[Look] = Counter()
        for at, is_candidate in enumerate(candidates):
            after = self.after[at]
            if not is_candidate or after is None or sure_label(self.elements[at].text):
                continue
            is_text = after.kind is Kind.PARAGRAPH and not LIST_ITEM.match(after.text)
            if is_text and self.is_explained(at, after):
                indented.append(at)
            else:
                others[look_of(self.elements[at])] += 1
        alike = Counter(look_of(self.elements[at]) for at in indented)
        return {
            at
            for at in indented
            if alike[look := look_of(self.elements[at])] >= max(FEWEST_TERMS, others[look])
            and look[0].size < LARGER * self.running(at).size
        }
