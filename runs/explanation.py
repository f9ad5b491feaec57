"""Why an execution's answer is what it is: its trace, made readable, with its words apart."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from accounts.models.ledger import Charge
from kb.models import Document
from runs.models import Execution, ExecutionEvent

EVENTS_SHOWN = 500
CHARGES_SHOWN = 100
CITATION = re.compile(r"<(?P<tag>\w*citation)\b[^<>]*+>(?P<number>[^<>]*+)</(?P=tag)>")
STAGES = {
    "retrieval": "Finding passages",
    "generation": "Writing the answer",
    "resolve": "Checking citations",
    "search": "Searching the web",
    "scraping": "Reading pages",
    "rerank": "Reranking",
}
VERDICTS = {
    "held": "The source says it.",
    "moved": "Moved to the source that says it.",
    "unsupported": "Taken out: the source does not say that.",
    "unknown": "Taken out: there is no such source.",
    "repeated": "Taken out: said twice.",
    "unchecked": "Kept unchecked: there was no time.",
}


@dataclass(frozen=True, slots=True)
class StageTime:
    """How long a stage took; `share` of the total in percent; a part of another stage is indented."""

    name: str
    secs: float
    share: float
    is_part: bool


@dataclass(frozen=True, slots=True)
class KeptSource:
    """A passage or page that the answer could use, without its words."""

    rank: int
    name: str
    document_id: str
    page_number: int | None
    score: float | None
    rerank_score: float | None
    was_cited: bool


@dataclass(frozen=True, slots=True)
class EventLine:
    """A stored event: its number and kind, what it says without words, and its data as JSON."""

    seq: int
    kind: str
    summary: str
    data: str


def question_of(execution: Execution) -> str:
    """Return what was asked; of an answer in a conversation, as it was searched."""
    result = execution.result or {}
    return str((execution.inputs or {}).get("query") or result.get("asked") or "")


def stage_times(execution: Execution) -> list[StageTime]:
    """Return the times of the stages, in the order in which they ended."""
    timings: Mapping[str, float] = (execution.trace or {}).get("timings", {})
    total = timings.get("total") or max(timings.values(), default=0.0) or 1.0
    wholes = [name for name in timings if "." not in name and name != "total"]
    parts = [name for name in timings if "." in name and not name.endswith(".total")]
    found = []
    for whole in wholes:
        found.append(_stage(whole, timings[whole], total))
        found += [
            _stage(part, timings[part], total, is_part=True) for part in parts if part.startswith(f"{whole}.")
        ]
    return found


def _stage(name: str, secs: float, total: float, *, is_part: bool = False) -> StageTime:
    own = name.rpartition(".")[2].replace("_", " ")
    words = own if is_part else STAGES.get(name, own.capitalize())
    return StageTime(words, secs, min(100.0, round(100 * secs / total, 1)), is_part)


def kept_sources(execution: Execution) -> list[KeptSource]:
    """Return the contexts or web pages that the answer could use, by rank."""
    result = execution.result or {}
    names = dict(Document.unscoped.filter(pk__in=execution.read_documents).values_list("pk", "name"))
    by_id = {str(id): name for id, name in names.items()}
    contexts = result.get("contexts") or []
    sources = result.get("sources") or []
    return [
        *(_context(each, by_id) for each in contexts),
        *(_page(each) for each in sources if "rank" in each),
    ]


def _context(context: Mapping[str, Any], names: Mapping[str, str]) -> KeptSource:
    id, rank = context["document_id"], context["rank"]
    return KeptSource(
        rank=rank,
        name=names.get(id, "a document that is deleted"),
        document_id=id if id in names else "",
        page_number=context.get("page_number"),
        score=context.get("score"),
        rerank_score=context.get("rerank_score"),
        was_cited=bool(context.get("used_in_response")),
    )


def _page(source: Mapping[str, Any]) -> KeptSource:
    return KeptSource(
        rank=source["rank"],
        name=urlsplit(source.get("url") or "").hostname or "a web page",
        document_id="",
        page_number=None,
        score=source.get("score"),
        rerank_score=source.get("rerank_score"),
        was_cited=bool(source.get("used_in_response")),
    )


def counts_of(execution: Execution) -> list[tuple[str, str]]:
    """Return what the steps found and left, as names with figures."""
    steps = (execution.trace or {}).get("steps", {})
    verdicts = Counter(each["outcome"] for each in steps.get("citations", []))
    lines = [
        ("Passages found", steps.get("retrieved")),
        ("Pages found", steps.get("found")),
        ("Search engine", steps.get("provider")),
        ("Engines asked", ", ".join(f"{name}: {how}" for name, how in steps.get("providers", {}).items())),
        ("From the cache", {True: "yes", False: "no"}.get(steps.get("from_cache"))),
        ("Reranked", steps.get("reranked")),
        ("Kept for the answer", len(steps["kept"]) if "kept" in steps else None),
        ("Pictures shown to the model", len(steps.get("seen", [])) or None),
        *((f"Citations. {VERDICTS.get(name, name)}", number) for name, number in verdicts.items()),
    ]
    return [(name, str(value)) for name, value in lines if value not in (None, "")]


def charges_of(execution: Execution) -> list[Charge]:
    """Return the paid calls of an execution, in their order."""
    return list(Charge.unscoped.filter(execution_id=execution.pk).order_by("created_at")[:CHARGES_SHOWN])


def events_of(execution: Execution) -> list[EventLine]:
    """Return the stored events, at most `EVENTS_SHOWN`."""
    return [_line(event) for event in execution.events.all()[:EVENTS_SHOWN]]


def _line(event: ExecutionEvent) -> EventLine:
    data = event.data
    said = [str(data[name]) for name in ("phase", "status", "code", "output_key") if data.get(name)]
    counts = data.get("data") if isinstance(data.get("data"), dict) else {}
    said += [f"{name.replace('_', ' ')} {value}" for name, value in counts.items() if isinstance(value, int)]
    if isinstance(data.get("content"), str):
        said.append(f"{len(data['content'])} characters")
    return EventLine(event.seq, event.event, ", ".join(said), json.dumps(data, indent=2, ensure_ascii=False))


def answer_parts(execution: Execution) -> Iterator[tuple[str, str]]:
    """Yield the answer's text in pieces: the words, and the citation that follows them (or nothing)."""
    text = (execution.result or {}).get("response") or ""
    start = 0
    for found in CITATION.finditer(text):
        yield text[start : found.start()], found["number"]
        start = found.end()
    yield text[start:], ""


def quotes_of(execution: Execution) -> list[tuple[int, str, str]]:
    """Return rank, name and quoted sentence of each source that the answer cites."""
    names = {source.rank: source.name for source in kept_sources(execution)}
    result = execution.result or {}
    found = []
    for each in [*(result.get("contexts") or []), *(result.get("sources") or [])]:
        quotes = [quote["text"] for quote in each.get("quotes") or []] or [each.get("quote")]
        found += [
            (each.get("rank", 0), names.get(each.get("rank", 0), ""), quote) for quote in quotes if quote
        ]
    return found


def verdicts_of(execution: Execution) -> list[tuple[str, int, str]]:
    """Return each cited statement with the source that it named, and what its check has found."""
    citations = (execution.trace or {}).get("steps", {}).get("citations", [])
    return [
        (each["statement"], each["asked"], VERDICTS.get(each["outcome"], each["outcome"]))
        for each in citations
    ]
