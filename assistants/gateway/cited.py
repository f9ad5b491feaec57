"""A tool's result as these protocols show it: text with `[n]`, what `n` stands for, annotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runs.explanation import CITATION
from search.citations.markers import MARKER

Json = dict[str, Any]
PLACES = ("document_id", "chunk_id", "page_number", "start_time", "end_time", "score")


@dataclass(frozen=True, slots=True)
class CitedText:
    """A response: its text, and where which source is cited."""

    text: str
    annotations: list[Json]


def with_numbers(partial: str) -> str:
    """Return a partial with `[n]` for each marker."""
    return MARKER.sub(r"[\1]", partial)


def cited_text(result: Mapping[str, Any], base_url: str) -> CitedText:
    """Return a result's response with `[n]` for each citation, and an annotation for each of these.

    Offsets count code points; the end is exclusive.
    """
    response = result.get("response") or ""
    sources = _cited_sources(result, base_url)
    seen: Counter[int] = Counter()
    text, at, annotations = "", 0, []
    for found in CITATION.finditer(response):
        text += response[at : found.start()]
        start, at = len(text), found.end()
        text += found["number"]
        rank = int(found["number"].strip("[]"))
        annotations.append(_annotation(sources[rank], seen[rank], start, len(text)))
        seen[rank] += 1
    return CitedText(text + response[at:], annotations)


def results_of_contexts(contexts: Sequence[Mapping[str, Any]], base_url: str) -> list[Json]:
    """Return the passages of documents as search results; `id` is the number in the text."""
    return [_result_of_context(context, base_url) for context in contexts]


def results_of_pages(sources: Sequence[Mapping[str, Any]]) -> list[Json]:
    """Return the pages of the web as search results."""
    return [
        {
            "id": source["rank"],
            "url": source["url"],
            "title": source["title"],
            "snippet": source["snippet"],
            "date": None,
            "last_updated": None,
            "source": "web",
        }
        for source in sources
    ]


def _result_of_context(context: Mapping[str, Any], base_url: str) -> Json:
    """Return a passage; of a document that the reader no longer sees nothing is left but its number."""
    result = {
        "id": context["rank"],
        "url": address_of(context, base_url),
        "title": context.get("document_name") or "",
        "snippet": context["text_preview"] or "",
        "date": None,
        "last_updated": None,
    }
    return result | {name: context[name] for name in PLACES if context.get(name) is not None}


def address_of(context: Mapping[str, Any], base_url: str) -> str:
    """Return the address of the page that shows a passage in its document."""
    address = f"{base_url}/documents/{context['document_id']}"
    return f"{address}?chunk={context['chunk_id']}" if "chunk_id" in context else address


def _cited_sources(result: Mapping[str, Any], base_url: str) -> dict[int, Json]:
    found = dict(_pages(result.get("sources", ())))
    for context in result.get("contexts", ()):
        found[context["rank"]] = {"context": context, "url": address_of(context, base_url)}
    return found


def _pages(sources: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, Json]]:
    for source in sources:
        yield source["rank"], {"title": source["title"], "url": source["url"]}


def _annotation(source: Json, occurrence: int, start: int, end: int) -> Json:
    """Return the annotation of a citation; of a passage it names the place of the supporting sentence."""
    place = {"start_index": start, "end_index": end}
    context = source.get("context")
    if context is None:
        return {"type": "url_citation", **place, "title": source["title"], "url": source["url"]}
    quotes = context.get("quotes") or ()
    quote = quotes[occurrence] if occurrence < len(quotes) else {}
    shown = {"quote": quote.get("text"), "bbox": quote.get("bbox") or context.get("bbox")}
    places = {name: context[name] for name in PLACES if context.get(name) is not None}
    return {
        "type": "file_citation",
        "file_id": context["document_id"],
        "filename": context.get("document_name") or "",
        "index": context["rank"] - 1,
        **place,
        "title": context.get("document_name") or "",
        "url": source["url"],
        **{name: value for name, value in (shown | places).items() if value is not None},
    }
