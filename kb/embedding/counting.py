"""Counts tokens word by word, where that gives the same result as counting whole texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

REMEMBERED = 1 << 17


def splits_at_blanks(tokenizer: Any) -> bool:
    """Return whether a `tokenizers.Tokenizer` never joins across white space: WordPiece does not."""
    return type(tokenizer.model).__name__ == "WordPiece" or "WhitespaceSplit" in repr(tokenizer.pre_tokenizer)


class WordCounter:
    """Counts a text's tokens as the sum of its words' tokens, and caches each word.

    Correct for tokenizers that never join across white space, such as WordPiece. Thread-safe.
    """

    def __init__(self, count: Callable[[Sequence[str]], list[int]]) -> None:
        self._count = count
        self._known: dict[str, int] = {}

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return for each text its number of tokens."""
        parts = [text.split() for text in texts]
        counts = self._known
        # Not as a difference of sets, which would visit all known words.
        unknown = [word for word in {word for words in parts for word in words} if word not in counts]
        if len(counts) + len(unknown) > REMEMBERED:
            # A new dict instead of clearing this one: another thread may be summing its words.
            counts, unknown = {}, list({word for words in parts for word in words})
        counts.update(zip(unknown, self._count(unknown), strict=True))
        self._known = counts
        return [sum(map(counts.__getitem__, words)) for words in parts]
