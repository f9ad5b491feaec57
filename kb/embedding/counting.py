"""Counting tokens word by word, where that is the same as counting whole texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

REMEMBERED = 1 << 17


class WordCounter:
    """Counts a text's tokens as the sum of its words', and remembers each word.

    True of tokenizers that never join what white space parts, WordPiece for one. Thread-safe.
    """

    def __init__(self, count: Callable[[Sequence[str]], list[int]]) -> None:
        self._count = count
        self._known: dict[str, int] = {}

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return for each text its number of tokens."""
        parts = [text.split() for text in texts]
        counts = self._known
        # Not as a difference of sets: that would look at all the known ones.
        unknown = [word for word in {word for words in parts for word in words} if word not in counts]
        if len(counts) + len(unknown) > REMEMBERED:
            # A new one rather than this one cleared: another thread may be adding up its words.
            counts, unknown = {}, list({word for words in parts for word in words})
        counts.update(zip(unknown, self._count(unknown), strict=True))
        self._known = counts
        return [sum(map(counts.__getitem__, words)) for words in parts]
