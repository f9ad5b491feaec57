"""A text in parts, of which those nearest to a question are read, within a budget of tokens.

    text ──paragraphs, sentences──▶ parts ──by words──▶ the best ──by meaning──▶ excerpt, in reading order

Words are looked for in all of a text, which is cheap. Vectors are made of the parts that have most of the
question's words, and of some in between, as many as there is time for.
"""

from __future__ import annotations

import logging
import math
import re
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from core.endpoint import EndpointRefusal, EndpointUnavailable
from core.text.analysis import terms
from core.text.sentences import sentence_bounds
from kb.embedding import embedding_model
from kb.embedding.calibration import calibration_of

CHARS_PER_TOKEN = 12
"""More than a token takes in any language; a tokenizer may see one token in an unbroken run of any length."""
PART_CHARS = 700
"""A part is about a paragraph: what a vector stands for well."""
SENTENCES_OF = 20_000
"""Characters that are looked through for sentences at once."""
MOST_EMBEDDED = 64
"""Of all texts of a search together."""
EMBEDDED_AT_ONCE = 8
LONGEST_EMBEDDING_SECS = 1.0
GAP = "\n\n"
"""Between parts that do not follow each other."""
_SENTENCE = re.compile(r"[.!?…。！？][\"'”’»)\]]*(?=\s)|(?=\n)")
_WORD = re.compile(r"\S+")
_LINE = re.compile(r"[^\n]+")

logger = logging.getLogger(__name__)
Bounds = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Scale:
    """What the words of a question are worth in a text: the rarer there, the more."""

    weights: Mapping[str, float]
    language: str | None

    def share(self, text: str) -> float:
        """Return the share of the question's weight that a text has, 0 to 1."""
        found = self.weights.keys() & terms(text, self.language)
        return sum(self.weights[term] for term in found) / (sum(self.weights.values()) or 1.0)


@dataclass(frozen=True, slots=True)
class RankedText:
    """A text, where its parts stand in it, and how near to the question each is."""

    text: str
    parts: tuple[Bounds, ...]
    """In reading order."""
    tokens: tuple[int, ...]
    """Of each part."""
    words: tuple[float, ...]
    """The share of the question's words, weighted by how rare they are here, that each part has: 0 to 1."""
    meaning: tuple[float | None, ...]
    """How similar question and part are, where there was time for it."""
    scale: Scale

    def nearest(self, max_tokens: int) -> tuple[str, int]:
        """Return what of the text is nearest to the question, in reading order, and its tokens.

        The whole text if it fits, else whole parts; of a best part that is too large its best sentences.
        """
        order = self.order
        if not order:
            return "", 0
        if self.tokens[order[0]] > max_tokens:
            return self._sentences(order[0], max_tokens)
        chosen, taken = _fitting(order, self.tokens, max_tokens)
        return _join_stretches(self.text, [self.parts[number] for number in chosen]), taken

    def _sentences(self, number: int, max_tokens: int) -> tuple[str, int]:
        """Return what of a part is nearest to the question by its words."""
        start, end = self.parts[number]
        bounds = [
            (start + first, start + last) for first, last in sentence_bounds(self.text[start:end], None)
        ]
        texts = [self.text[first:last] for first, last in bounds]
        order = sorted(range(len(texts)), key=lambda at: -self.scale.share(texts[at]))
        tokens = tokens_of(texts)
        if not order or tokens[order[0]] > max_tokens:
            return cut(texts[order[0]] if order else self.part(number), max_tokens)
        chosen, taken = _fitting(order, tokens, max_tokens)
        return _join_stretches(self.text, [bounds[at] for at in chosen]), taken

    def part(self, number: int) -> str:
        """Return a part's text."""
        start, end = self.parts[number]
        return self.text[start:end]

    @property
    def order(self) -> list[int]:
        """The numbers of the parts, nearest first; of equals the first."""
        # A part without a vector was worse by its words than those that have one.
        lowest = min((cosine for cosine in self.meaning if cosine is not None), default=0.0)
        nearness = [
            words + (lowest if cosine is None else cosine)
            for words, cosine in zip(self.words, self.meaning, strict=True)
        ]
        return sorted(range(len(nearness)), key=lambda number: -nearness[number])


def ranked_by_words(question: str, text: str, language: str | None) -> RankedText:
    """Return a text in parts, ranked by which words of the question they have."""
    parts = tuple(_parts(text))
    texts = [text[start:end] for start, end in parts]
    asked = frozenset(terms(question, language))
    having = Counter(term for each in texts for term in asked.intersection(terms(each, language)))
    weights = {term: math.log(1 + (len(parts) - having[term] + 0.5) / (having[term] + 0.5)) for term in asked}
    scale = Scale(weights, language)
    words = tuple(map(scale.share, texts))
    return RankedText(text, parts, tuple(tokens_of(texts)), words, (None,) * len(parts), scale)


def ranked_by_meaning(question: str, texts: Sequence[RankedText]) -> list[RankedText]:
    """Return the texts ranked by meaning too, as far as there is time; the best part of each comes first."""
    turns = [
        (number, part)
        for turn in zip_longest(*map(_worth_embedding, texts))
        for number, part in enumerate(turn)
        if part is not None
    ][:MOST_EMBEDDED]
    meaning: list[list[float | None]] = [list(text.meaning) for text in texts]
    read = [texts[number].part(part) for number, part in turns]
    for (number, part), cosine in zip(turns, _cosines(question, read), strict=False):
        meaning[number][part] = cosine
    return [replace(text, meaning=tuple(cosines)) for text, cosines in zip(texts, meaning, strict=True)]


def _cosines(question: str, texts: Sequence[str]) -> Iterator[float]:
    """Yield how similar the question is to each text, until the time is over or an endpoint fails."""
    deadline = time.monotonic() + LONGEST_EMBEDDING_SECS
    model = embedding_model()
    try:
        asked = model.embed_query(question) if texts else None
        for at in range(0, len(texts), EMBEDDED_AT_ONCE):
            if asked is None or time.monotonic() >= deadline:
                return
            cosines = model.embed_documents(texts[at : at + EMBEDDED_AT_ONCE]) @ asked
            yield from calibration_of(model.name).similarity(cosines).tolist()
    except (EndpointUnavailable, EndpointRefusal) as error:
        logger.warning("Pages are ranked by words alone: %s", error)


def cut(text: str, max_tokens: int) -> tuple[str, int]:
    """Return the text up to the last sentence, word or character that fits into `max_tokens`, and its tokens.

    A word is only broken if not even the first fits.
    """
    # What can't fit need not be looked at; one character more tells that a word may go on.
    text = text[: max_tokens * CHARS_PER_TOKEN + 1]
    if (tokens := tokens_of([text])[0]) <= max_tokens:
        return text, tokens
    for boundary in (_SENTENCE, _WORD):
        ends = [found.end() for found in boundary.finditer(text)]
        if boundary is _WORD and ends and ends[-1] == len(text):
            # The last one may go on.
            ends.pop()
        if begun := _up_to(text, ends, max_tokens):
            return begun
    return _up_to(text, range(1, len(text) + 1), max_tokens) or ("", 0)


def tokens_of(texts: Sequence[str]) -> list[int]:
    """Return each text's tokens, by the embedding model's tokenizer, or by its length if that is more."""
    counts = embedding_model().count_tokens(list(texts))
    return [
        max(count, math.ceil(len(text) / CHARS_PER_TOKEN)) for count, text in zip(counts, texts, strict=True)
    ]


def _up_to(text: str, ends: Sequence[int], max_tokens: int) -> tuple[str, int] | None:
    fitting = bisect_right(ends, max_tokens, key=lambda end: tokens_of([text[:end]])[0])
    if not fitting or not (begun := text[: ends[fitting - 1]].rstrip()):
        return None
    return begun, tokens_of([begun])[0]


def _worth_embedding(text: RankedText) -> list[int]:
    """Return numbers of parts: those with words of the question, best first, then others from all over."""
    with_words = [number for number in text.order if text.words[number]][:MOST_EMBEDDED]
    step = max(1, len(text.parts) // MOST_EMBEDDED)
    spread = [number for number in range(0, len(text.parts), step) if not text.words[number]]
    return [*with_words, *spread]


def _fitting(order: Sequence[int], tokens: Sequence[int], most: int) -> tuple[list[int], int]:
    """Return which of the best fit together, in reading order, and how many tokens they have."""
    chosen, taken = [], 0
    for number in order:
        if taken + tokens[number] <= most:
            chosen.append(number)
            taken += tokens[number]
    return sorted(chosen), taken


def _join_stretches(text: str, chosen: Sequence[Bounds]) -> str:
    """Return stretches of a text; those that follow each other as they stand there."""
    stretches: list[Bounds] = []
    for start, end in chosen:
        if stretches and not text[stretches[-1][1] : start].strip():
            stretches[-1] = (stretches[-1][0], end)
        else:
            stretches.append((start, end))
    return GAP.join(text[start:end] for start, end in stretches)


# --- Parts -------------------------------------------------------------------------------------------------


def _parts(text: str) -> Iterator[Bounds]:
    """Yield neighbouring pieces of a text together as long as they are no longer than a part."""
    begun: Bounds | None = None
    for start, end in _pieces(text):
        if begun is not None and end - begun[0] <= PART_CHARS:
            begun = (begun[0], end)
            continue
        if begun is not None:
            yield begun
        begun = (start, end)
    if begun is not None:
        yield begun


def _pieces(text: str) -> Iterator[Bounds]:
    """Yield lines; of a line that is longer than a part its sentences, cut where those are too."""
    for line in _LINE.finditer(text):
        if line[0].isspace():
            continue
        if line.end() - line.start() <= PART_CHARS:
            yield line.span()
            continue
        for at, end in _cut_up(text, *line.span(), SENTENCES_OF):
            for first, last in sentence_bounds(text[at:end], None):
                yield from _cut_up(text, at + first, at + last, PART_CHARS)


def _cut_up(text: str, start: int, end: int, most: int) -> Iterator[Bounds]:
    """Yield a stretch in pieces of at most `most` characters, cut at white space where there is any."""
    while end - start > most:
        space = text.rfind(" ", start + 1, start + most)
        at = space if space > start else start + most
        yield start, at
        start = at
    if start < end:
        yield start, end
