"""Support: whether a source supports a statement, and which of its sentences does.

Words decide where they suffice; otherwise the meaning is compared, for all statements at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kb.embedding.base import Vectors
from kb.embedding.calibration import Calibration
from search.citations.claims import AnalysedText, Terms, cover, lacks_name, lacks_number
from search.citations.polarity import Clause, clauses_of, is_contrary
from search.contexts import Context, Sentence

ENOUGH_WORDS = 0.6
"""A sentence, or two consecutive ones, with so many of a claim's words supports it."""
ENOUGH_OF_ALL = 0.8
"""So many words may be spread over the whole chunk."""
PART_OF_WORDS = 0.3
"""So much must come from each of several sources that support a claim together."""
ENOUGH_MEANING = 0.65
"""From this similarity on, other words count as the same statement."""
MOST_FIGURES_SHOWN = 8
"""For so many figures of a statement that its best sentence lacks, sentences that have them are sought."""

_WORD = re.compile(r"\w++")
_FIGURE = re.compile(r"\d{2,}|\d+\.\d+")
_YEAR = re.compile(r"(?:19|20)\d\d")

Embed = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True)
class CitableSource:
    """A context, analysed."""

    context: Context

    @cached_property
    def whole(self) -> AnalysedText:
        """Everything that supports a claim: headings and the document's name say what a passage is about."""
        context = self.context
        text = " \n".join([*context.headings, context.document_name, context.text])
        return AnalysedText(text, context.language)

    @cached_property
    def sentences(self) -> list[tuple[Sentence, Terms]]:
        """The sentences with their words."""
        language = self.context.language
        return [(each, AnalysedText(each.text, language).terms) for each in self.context.sentences]

    @cached_property
    def windows(self) -> list[Terms]:
        """The words of each sentence and the one after it, under their headings."""
        of_each = [found for _, found in self.sentences]
        return [
            one | other | self.headings for one, other in zip(of_each, [*of_each[1:], Terms()], strict=True)
        ]

    @cached_property
    def headings(self) -> Terms:
        """The words of its headings."""
        return AnalysedText(" \n".join(self.context.headings), self.context.language).terms

    @cached_property
    def clauses(self) -> list[Clause]:
        """Its clauses, each negated or not."""
        language = self.context.language
        return [clause for each in self.context.sentences for clause in clauses_of(each.text, language)]

    def cover(self, claim: AnalysedText) -> float:
        """Return the share of the claim's words in the best window."""
        return max((cover(claim, window) for window in self.windows), default=0.0)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The sentence that supports a claim; `share` is the certainty, 0 to 1."""

    sentence: Sentence
    share: float


class Verifier:
    """Checks claims against the sources of one answer."""

    def __init__(
        self, contexts: Sequence[Context], question: str, calibration: Calibration, embed: Embed
    ) -> None:
        self.sources = {context.rank: CitableSource(context) for context in contexts}
        self._question, self._calibration, self._embed = question, calibration, embed
        self._vectors: dict[int, Vectors] = {}
        self._statements: dict[str, Vectors] = {}

    def claim(self, statement: str, rank: int) -> AnalysedText:
        """Return a statement as a claim about a source; “Yes.” stands for the question."""
        language = self.sources[rank].context.language
        said = AnalysedText(statement, language)
        return said if len(said.terms) > 1 else AnalysedText(f"{self._question} {statement}", language)

    def is_held(self, statement: str, rank: int, beside: Sequence[int] = ()) -> bool:
        """Return whether a source supports a statement, perhaps together with those also cited (`beside`)."""
        claim, source = self.claim(statement, rank), self.sources[rank]
        together = [source.whole, *(self.sources[other].whole for other in beside)]
        asked = AnalysedText(self._question, claim.language)
        if lacks_number(claim, together) or lacks_name(claim, [*together, asked]):
            return False
        if claim.text == statement and is_contrary(statement, claim.language, source.clauses):
            return False
        if beside and all(self._contributes(claim, each) for each in (rank, *beside)):
            return True
        return (
            source.cover(claim) >= ENOUGH_WORDS
            or cover(claim, source.whole.terms) >= ENOUGH_OF_ALL
            or float(self._similarity(statement, rank).max(initial=-1.0)) >= ENOUGH_MEANING
        )

    def evidence(self, statement: str, rank: int) -> Evidence:
        """Return the sentence of a source that says most of what is stated."""
        claim, source, said = self.claim(statement, rank), self.sources[rank], _in_words(statement)
        figures = frozenset(each for each in claim.numbers if _is_figure(each, statement))
        shares = [
            # A heading that the text repeats says what it is about, and nothing of it. A value that is quoted
            # alone stands in one sentence word for word, though its label has more of the question's words.
            (
                not found <= source.headings,
                _holds(sentence.text, said),
                # The name of a section above a row may have more of the words than the row, and no figure.
                len(found & figures),
                len(found & claim.terms) / max(1, len(found | claim.terms)),
                -at,
            )
            for at, (sentence, found) in enumerate(source.sentences)
        ]
        best = -max(shares)[-1]
        share = _overlap(claim.terms, source.sentences[best][1])
        if share < ENOUGH_WORDS and rank in self._vectors:
            similarity = self._similarity(statement, rank)
            best = int(similarity.argmax())
            share = max(share, float(similarity[best]))
        return Evidence(source.sentences[best][0], share)

    def with_its_figures(self, statement: str, rank: int, shown: Terms) -> list[Evidence]:
        """Return the sentence of a source that supports a claim, and those with the figures that it lacks.

        The operands of a formula stand in several rows of one table. `shown` are figures that other sources
        of the same claim show.
        """
        first = self.evidence(statement, rank)
        claim, source = self.claim(statement, rank), self.sources[rank]
        missing = {each for each in claim.numbers - claim.proven - shown if _is_figure(each, statement)}
        missing -= AnalysedText(first.sentence.text, claim.language).terms
        found = [first]
        for figure in sorted(missing)[:MOST_FIGURES_SHOWN]:
            having = [(each, held) for each, held in source.sentences if figure in held]
            if having:
                sentence, _ = max(having, key=lambda each: _overlap(claim.terms, each[1]))
                found += [] if any(sentence == each.sentence for each in found) else [Evidence(sentence, 1.0)]
        return found

    def _contributes(self, claim: AnalysedText, rank: int) -> bool:
        return cover(claim, self.sources[rank].whole.terms) >= PART_OF_WORDS

    def _similarity(self, statement: str, rank: int) -> Vectors:
        """Return how similar each sentence is to a statement, as the calibration of the model has it."""
        if rank not in self._vectors:
            self._vectors[rank] = self._embed([each.text for each in self.sources[rank].context.sentences])
        if statement not in self._statements:
            self._statements[statement] = self._embed([statement])[0]
        cosines = np.asarray(self._vectors[rank] @ self._statements[statement])
        return self._calibration.similarity_of_texts(cosines)


def _is_figure(term: str, statement: str) -> bool:
    """Tell whether a term is a figure: a year stands in the head of a table, and a single digit anywhere.

    “1,946” is no year.
    """
    is_year = _YEAR.fullmatch(term) is not None and term in statement
    return _FIGURE.fullmatch(term) is not None and not is_year


def _holds(text: str, said: str) -> bool:
    """Tell whether a text has all of some words in a row, as `_in_words` gives them."""
    return bool(said) and f" {said} " in f" {_in_words(text)} "


def _in_words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _overlap(one: Terms, other: Terms) -> float:
    return len(one & other) / max(1, min(len(one), len(other)))
