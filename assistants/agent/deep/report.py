"""The text of a report: sections, a table of evidence, and what was not answered.

The text is written with markers, as partials send it, and with citations, as the result has it. Sections are
checked answers. The table repeats their citations, each beside the sentence that it cites.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from pydantic import JsonValue

from assistants.agent.deep.splitting import WORDS
from assistants.agent.sources import SourceBook
from runs.events import PartialText, ToolPartialUpdate, Usage
from search.answering import CitedAnswer
from search.citations.markers import MARKER, MarkerStream
from search.citations.resolve import Resolved, Verdict
from search.events import Quote
from search.generation.base import FailedModel
from search.generation.extractive import escape_markdown
from search.question_language import language_of

Outcome = Literal["answered", "nothing", "failed", "limit"]
MOST_EVIDENCE = 3
"""Rows of the table for one part."""
LONGEST_QUOTE = 300


@dataclass(slots=True)
class QuestionPart:
    """A part of the question, and what became of it."""

    question: str
    outcome: Outcome = "limit"
    quotes: list[tuple[int, Quote]] = field(default_factory=list)
    """By rank, each source of its section once."""


class DeepReport:
    """Grows section by section; yields what is to be sent, and keeps what the result will say."""

    def __init__(self, question: str, parts: Sequence[str], book: SourceBook) -> None:
        language = WORDS["headings"]
        self._words: dict[str, str] = language[language_of(question)]
        self.parts = [QuestionPart(part) for part in parts]
        self._response = ""
        self._quotes: defaultdict[int, list[Quote]] = defaultdict(list)
        self._verdicts: list[Verdict] = []
        self._book = book
        self._answers: list[CitedAnswer] = []

    @property
    def answered_parts(self) -> list[QuestionPart]:
        """The parts with an answer."""
        return [part for part in self.parts if part.outcome == "answered"]

    def heading(self, words: str) -> Iterator[ToolPartialUpdate]:
        """Begin a section; yield its heading."""
        yield from self._add(f"### {escape_markdown(' '.join(words.split()))}\n\n")

    def heading_together(self) -> Iterator[ToolPartialUpdate]:
        """Begin the section about the question as a whole."""
        yield from self.heading(self._words["together"])

    def close_section(self, answer: CitedAnswer) -> Iterator[ToolPartialUpdate]:
        """Take the checked text of a section, which was sent already; yield what follows it."""
        start, resolved = len(self._response), answer.resolved
        for rank, quotes in resolved.quotes.items():
            self._quotes[rank] += [_moved(quote, start) for quote in quotes]
        self._verdicts += resolved.verdicts
        self._answers.append(answer)
        self._response += resolved.response
        yield from self._add("\n\n")

    def ending(self) -> Iterator[ToolPartialUpdate]:
        """Yield the table of evidence, and the parts that have no answer."""
        if self.answered_parts:
            yield from self.heading(self._words["evidence"])
            yield from self._add(
                f"| {self._words['question']} | {self._words['quote']} | {self._words['source']} |\n"
            )
            yield from self._add("|---|---|---|\n")
            for part in self.answered_parts:
                for rank, quote in part.quotes[:MOST_EVIDENCE]:
                    yield from self._row(part.question, rank, quote)
            yield from self._add("\n")
        gaps = [part for part in self.parts if part.outcome != "answered"]
        if gaps:
            yield from self.heading(self._words["gaps"])
            for part in gaps:
                yield from self._add(f"- {_cell(part.question)} – {self._words[part.outcome]}\n")

    def _row(self, question: str, rank: int, quote: Quote) -> Iterator[ToolPartialUpdate]:
        yield from self._add(f"| {_cell(question)} | ")
        words = _cell(quote.text)
        start = len(self._response)
        yield from self._add(words)
        cited = {"response_start": start, "response_end": len(self._response)}
        self._quotes[rank].append(quote.model_copy(update=cited))
        yield from self._add(f" | <source_{rank}> |\n")

    def _add(self, text: str) -> Iterator[ToolPartialUpdate]:
        """Add text of our own, its markers as citations; yield it as it is sent."""
        stream = MarkerStream()
        for partial in (*stream.feed(text), *stream.finish()):
            yield ToolPartialUpdate(data=PartialText(content=partial))
        self._response += MARKER.sub(lambda marker: self._citation(int(marker[1])), stream.text)

    def _citation(self, rank: int) -> str:
        """Return the citation of a source for a cell: titles of pages may have what ends one."""
        return self._book.contexts[rank - 1].citation.replace("|", "&#124;")

    # --- What the result says ------------------------------------------------------------------------------

    def as_answer(self, model: str) -> CitedAnswer:
        """Return the report as an answer: the sum of its sections, by `model` if none has written."""
        answers = self._answers
        costs = [answer.cost for answer in answers]
        failed: dict[FailedModel, None] = {}
        for answer in answers:
            failed |= dict.fromkeys(answer.failed_models)
        known = [cost for cost in costs if cost is not None]
        return CitedAnswer(
            Resolved(self._response.rstrip(), dict(self._quotes), self._verdicts),
            answers[-1].model if answers else model,
            Usage(
                input_tokens=sum(answer.usage.input_tokens for answer in answers),
                output_tokens=sum(answer.usage.output_tokens for answer in answers),
            ),
            float(sum(map(Decimal, map(str, known)))) if len(known) == len(costs) else None,
            frozenset(rank for answer in answers for rank in answer.seen),
            tuple(failed),
        )

    def trace(self) -> list[JsonValue]:
        """Return what became of each part, without its words."""
        return [
            {"outcome": part.outcome, "sources": [rank for rank, _ in part.quotes]} for part in self.parts
        ]


def _moved(quote: Quote, by: int) -> Quote:
    moved = {"response_start": quote.response_start + by, "response_end": quote.response_end + by}
    return quote.model_copy(update=moved)


def _cell(text: str) -> str:
    """Return text for one cell or line: no mark of Markdown in it counts."""
    line = " ".join(text.split())
    start = line[:LONGEST_QUOTE]
    # Some languages have no spaces.
    cut = line if start == line else f"{start.rpartition(' ')[0] or start} …"
    return escape_markdown(cut).replace("|", "\\|")
