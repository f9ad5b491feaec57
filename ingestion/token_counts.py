"""How many tokens a text takes of an embedding model's window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kb.chunk_size import MOST_CHARS

# A vector of a longer chunk represents its text less well, even if the model accepts more.
LARGEST = 256
SPECIAL_TOKENS = 2
# Tokenizers may count any unbroken run as one token, and blanks as none: so a token counts as so many
# characters.
CHARS_PER_TOKEN = MOST_CHARS // LARGEST
COUNTED_AT_ONCE = 512


class Tokenizer(Protocol):
    """The part of an embedding model that chunking needs."""

    max_tokens: int

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""


def least_tokens(chars: int) -> int:
    """Return the least number of tokens that so many characters count as."""
    return -(-chars // CHARS_PER_TOKEN)


def count_tokens(texts: list[str], tokenizer: Tokenizer) -> list[int]:
    """Return the number of tokens of each text; texts longer than a chunk are only estimated."""
    short = [text for text in texts if len(text) <= MOST_CHARS]
    batches = (short[at : at + COUNTED_AT_ONCE] for at in range(0, len(short), COUNTED_AT_ONCE))
    counts = (count for batch in batches for count in tokenizer.count_tokens(batch))
    return [max(next(counts) if len(text) <= MOST_CHARS else 0, least_tokens(len(text))) for text in texts]
