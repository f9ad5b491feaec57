"""Headings and heading paths, against outlines, printed contents, and pages labelled by eye.

`labelled_headings.json` holds 99 places of the sample data, drawn by chance, labelled from the pages:
`path` are the headings under which the words stand, the last of them the innermost; `headings` are all
headings that the page shows; `allowed` may be headings or not.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from bench.reading.documents import Document, Entry, Line, fold, fold_all
from bench.reading.rates import Rate
from bench.reading.tables import Figure
from core.text.numbering import Counting, labels
from extract.base import Kind
from kb.chunks import ChunkDraft

LABELS = Path(__file__).with_name("labelled_headings.json")
# “3.2 Methods . . . . . 14”
CONTENTS_LINE = re.compile(
    r"((?:\d{1,2}|[A-Z])(?:\.\d{1,2})*\.?\s[^\W\d_][^.\d]{2,100}?)\s*(?:\.\s?){3,}\s*(\d{1,3})\b"
)
# Contents stand on one of the first pages, and the pages that they name ascend, but for so many.
FIRST_PAGES, ASCENDING = 15, 0.9
NAMED = re.compile(r"(ITEM|Item|NOTE|Note|PART|Part)\s+(\d{1,2}[A-Z]?|[IVX]{1,4})\b\W*")
# A page with so many of them is a table of contents.
MANY = 5
# An outline that names so many headings for each page names nearly all.
FINE = 1.0
# Words that identify the place of a label.
FEWEST_LETTERS = 12


class Wrong(NamedTuple):
    """What is not as it should be, for `--show`."""

    document: str
    page: int
    what: str
    text: str


def heading_figures(documents: Iterable[Document], wrong: list[Wrong]) -> list[Figure | Rate]:
    """Return what is found of outlines, contents and named headings, the outline being hidden."""
    counts: Counter[str] = Counter()
    beyond: list[int] = []
    for document in documents:
        headings: defaultdict[int, list[str]] = defaultdict(list)
        for heading in document.headings_without_outline:
            headings[heading.located.page_number() or 0].append(fold(heading.text))
        _count_outline(document, headings, counts, wrong)
        _count_contents(document, headings, counts, wrong)
        _count_named(document, headings, counts, wrong)
        if len(document.outline) >= FINE * document.page_count:
            beyond += _beyond_outline(document, headings, wrong)
    return [
        Figure("headings of outlines found", counts["outline found"], counts["outline"]),
        Figure("numbered headings found", counts["numbered found"], counts["numbered"]),
        Figure("Item, Note and Part headings found", counts["named found"], counts["named"]),
        Rate("headings that a fine outline lacks, per 100 pages", tuple(beyond)),
    ]


def _count_outline(
    document: Document, headings: Mapping[int, list[str]], counts: Counter[str], wrong: list[Wrong]
) -> None:
    printed = _printed_headings(document)
    for page, title in document.outline:
        for is_numbered, folded in _as_printed(title, printed.get(page, [])):
            is_found = any(
                folded in found or (found in folded and len(found) > 2) for found in headings[page]
            )
            counts["outline"] += 1
            counts["outline found"] += is_found
            counts["numbered"] += is_numbered
            counts["numbered found"] += is_numbered and is_found
            if not is_found:
                wrong.append(Wrong(document.path.name, page, "missed", title))


def _as_printed(title: str, lines: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Yield the title of an outline if it stands on its page, and whether it has a number there."""
    folded = fold(title)
    for line in lines:
        at = fold(line).find(folded)
        if at < 0:
            continue
        label = next(labels(line), None)
        if at == 0 or (label and fold(line[label.end :]).startswith(folded)):
            yield label is not None and label.counting is not Counting.NAMED, folded
            return


def _printed_headings(document: Document) -> dict[int, list[str]]:
    """Return by page what may be a printed heading: each line, and with up to two after it."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    for page, texts in _by_page(document.lines).items():
        for at in range(len(texts)):
            found[page] += [" ".join(texts[at : at + size]) for size in (1, 2, 3)]
    return found


def _by_page(lines: Iterable[Line]) -> dict[int, list[str]]:
    pages: defaultdict[int, list[str]] = defaultdict(list)
    for line in lines:
        pages[line.page].append(line.text)
    return pages


def _count_contents(
    document: Document, headings: Mapping[int, list[str]], counts: Counter[str], wrong: list[Wrong]
) -> None:
    """Count the entries of printed contents, of documents without an outline."""
    if document.outline:
        return
    for page, text in _contents(document):
        folded = fold(text)
        is_found = any(
            folded in found for number, all_ in headings.items() if number > page for found in all_
        )
        counts["numbered"] += 1
        counts["numbered found"] += is_found
        if not is_found:
            wrong.append(Wrong(document.path.name, page, "missed of contents", text))


def _contents(document: Document) -> Iterator[Entry]:
    """Yield the numbered titles of a printed table of contents, with the page on which they stand in it."""
    for page, texts in _by_page(document.lines).items():
        found = CONTENTS_LINE.findall(" ".join(texts)) if page <= FIRST_PAGES else []
        pages = [int(number) for _, number in found]
        rising = sum(one <= other for one, other in pairwise(pages))
        if len(found) >= MANY and rising >= ASCENDING * (len(pages) - 1):
            yield from (Entry(page, title) for title, _ in found)


def _count_named(
    document: Document, headings: Mapping[int, list[str]], counts: Counter[str], wrong: list[Wrong]
) -> None:
    """Count bold lines that begin with Item, Note or Part and a number, but for tables of contents."""
    named: defaultdict[int, list[str]] = defaultdict(list)
    starting = Counter(line.page for line in document.lines if NAMED.match(line.text))
    for line in document.lines:
        if line.bold and starting[line.page] < MANY and (match := NAMED.match(line.text)):
            named[line.page].append(fold(match[0]) + fold(line.text[match.end() :])[:20])
    for page, starts in named.items():
        for start in starts:
            is_found = any(start in found for found in headings[page])
            counts["named"] += 1
            counts["named found"] += is_found
            if not is_found:
                wrong.append(Wrong(document.path.name, page, "missed named", start))


def _beyond_outline(
    document: Document, headings: Mapping[int, list[str]], wrong: list[Wrong]
) -> Iterator[int]:
    titles: defaultdict[int, list[str]] = defaultdict(list)
    for entry in document.outline:
        titles[entry.page].append(fold(entry.title))
    for page in range(1, document.page_count + 1):
        more = [
            found
            for found in headings[page]
            if not any(title in found or (found in title and len(found) > 2) for title in titles[page])
        ]
        wrong += [Wrong(document.path.name, page, "beyond outline", found[:80]) for found in more]
        yield len(more)


# --- Labelled pages ----------------------------------------------------------------------------------------


def labelled_figures(
    documents: Mapping[str, tuple[Document, list[ChunkDraft]]], wrong: list[Wrong]
) -> list[Figure | Rate]:
    """Return what is right on the labelled pages: headings, and the paths of the labelled chunks."""
    counts: Counter[str] = Counter()
    false: list[int] = []
    for label in json.loads(LABELS.read_text(encoding="utf-8")):
        if label["file"] not in documents:
            continue
        document, drafts = documents[label["file"]]
        false.append(_count_page(label, document, counts, wrong))
        _count_path(label, drafts, counts, wrong)
    return [
        Figure("heading paths right, labelled chunks", counts["right"], counts["paths"]),
        Figure("heading paths too coarse", counts["coarse"], counts["paths"]),
        Figure("headings found on labelled pages", counts["found"], counts["headings"]),
        Rate("false headings per 100 labelled pages", tuple(false)),
    ]


def _count_page(label: dict[str, Any], document: Document, counts: Counter[str], wrong: list[Wrong]) -> int:
    """Count the headings of a page that are found; return the number of false ones."""
    found = [
        fold(each.text)
        for each in document.elements
        if each.kind is Kind.HEADING and each.located.page_number() == label["page"]
    ]
    wanted, allowed = fold_all(label["headings"]), fold_all(label["allowed"])
    for each in wanted:
        is_found = any(each in one for one in found)
        counts["headings"] += 1
        counts["found"] += is_found
        if not is_found:
            wrong.append(Wrong(label["file"], label["page"], "missed by label", each))
    false = [
        one
        for one in found
        if not any(each in one or (one in each and len(one) > 2) for each in wanted + allowed)
    ]
    wrong += [Wrong(label["file"], label["page"], "false", one[:80]) for one in false]
    return len(false)


def _count_path(
    label: dict[str, Any], drafts: Iterable[ChunkDraft], counts: Counter[str], wrong: list[Wrong]
) -> None:
    """Count whether the chunk that holds the labelled words stands under the labelled headings."""
    counts["paths"] += 1
    draft = _chunk_at(label, drafts)
    if draft is None:
        wrong.append(Wrong(label["file"], label["page"], "no chunk", label["words"]))
        return
    wanted, path = fold_all(label["path"]), fold_all(draft.headings)
    run_in = fold_all(label["allowed"])
    innermost = (
        path[:-1]
        if path and len(path) > 1 and wanted[-1] not in path[-1] and _is_any(path[-1], run_in)
        else path
    )
    is_right = bool(innermost) and wanted[-1] in innermost[-1] and _in_order(wanted, innermost)
    counts["right"] += is_right
    if not is_right:
        coarse = (bool(path) and any(each in path[-1] for each in wanted[:-1])) or not path
        counts["coarse"] += coarse
        what = "coarse path" if coarse else "wrong path"
        wrong.append(Wrong(label["file"], label["page"], what, f"{label['path']} got {draft.headings}"))


def _is_any(heading: str, others: Iterable[str]) -> bool:
    return any(other in heading or heading in other for other in others)


def _in_order(wanted: Sequence[str], path: Sequence[str]) -> bool:
    """Whether the wanted headings stand in a path one after the other, whatever stands between them."""
    at = iter(path)
    return all(any(each in one for one in at) for each in wanted)


def _chunk_at(label: dict[str, Any], drafts: Iterable[ChunkDraft]) -> ChunkDraft | None:
    """Return the chunk on the labelled page that holds most of the labelled words one after the other."""
    on_page = [
        (draft, fold(draft.located.text))
        for draft in drafts
        if any(box.page.number == label["page"] for box in draft.located.boxes())
    ]
    words = label["words"].split()
    for size in range(len(words), 1, -1):
        wanted = fold("".join(words[:size]))
        found = [draft for draft, text in on_page if wanted in text]
        if found and len(wanted) >= FEWEST_LETTERS:
            return found[0]
    return None
