"""Words with times, and the sentences that they form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from core.locations import InTime, LocatedText, Span
from extract.cleaning import clean

# A sentence ends with one of these characters, before a silence of so many seconds, or at so many words.
ENDS = (".", "?", "!", "…")
FULL_WIDTH_ENDS = ("。", "？", "！")
SILENCE, MOST_WORDS = 2.0, 60


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word with the white space before it, its times in seconds and the model's confidence, 0 to 1."""

    text: str
    start: float
    end: float
    confidence: float


def cut_sentences(words: Iterable[SpokenWord]) -> Iterator[list[SpokenWord]]:
    """Yield the words of each sentence."""
    sentence: list[SpokenWord] = []
    for word in words:
        if sentence and _ends(sentence, word):
            yield sentence
            sentence = []
        sentence.append(word)
    if sentence:
        yield sentence


def _ends(sentence: list[SpokenWord], following: SpokenWord) -> bool:
    last = sentence[-1]
    text = last.text.rstrip("\"'”’)」』")
    silent = following.start - last.end >= SILENCE
    ended = text.endswith(ENDS) and following.text[:1].isspace()
    return silent or ended or text.endswith(FULL_WIDTH_ENDS) or len(sentence) >= MOST_WORDS


def locate_words(words: Iterable[SpokenWord]) -> LocatedText:
    """Return words as a text with their times, with the white space that stands before each."""
    text = ""
    spans = []
    for word in words:
        spoken = " ".join(clean(word.text).split())
        if spoken:
            text += " " if text and word.text[:1].isspace() else ""
            spans.append(Span(len(text), len(text) + len(spoken), InTime(word.start, word.end)))
            text += spoken
    return LocatedText.of_spans(text, spans)
