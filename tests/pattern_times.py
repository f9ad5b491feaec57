"""Which patterns take more than linear time? A program of its own, so that one that hangs can be ended.

Reads JSON from standard input: a list of `[name, pattern, flags, is_bytes, methods]`, a pattern of bytes in
Latin-1, and no methods for all. For each it makes texts out of the pattern's own alphabet: runs of its
literals, of members of its classes, of the text that its parts match, of pairs of these. All are tried on few
characters, the slowest on `SIZE`. Prints a line for each pattern that is too slow, and last "done".
"""

from __future__ import annotations

import json
import re
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, permutations, product
from re import _constants as op
from re import _parser
from typing import Any, TextIO

SIZE = 200_000
SMALL = 3_000
LIMIT_SECS = 4.0
"""Processor time: what is linear needs a twentieth, what is quadratic ten times as much and more."""
MOST_SEEDS = 150
SLOWEST = 3
GENERIC = [
    *"9aA_ =()[]<>{}-.,\n\t#*`|$%&\"'/\\:;!?é中ß\u0301\u200b©…",
    *("1.", "1,", "a.", "a ", "A ", "aA", "9a", "a-", " \n", "\n ", "<a", "<!", "=-", "&#", "a@", "(a", "1 "),
    *("http://a", "**", "[1]", "<a>", "<a ", "<!--", "```", '"a', "a: ", "| ", "--- |", ". ", "a. ", "x=1;"),
]
ENDS = ("", "!\x00", "a", "\x00a")
CATEGORIES = {
    op.CATEGORY_DIGIT: "9",
    op.CATEGORY_SPACE: " \n",
    op.CATEGORY_WORD: "a9_",
    op.CATEGORY_NOT_DIGIT: "a ",
    op.CATEGORY_NOT_SPACE: "a9=",
    op.CATEGORY_NOT_WORD: " =.",
}


def members(items: Sequence[Any]) -> str:
    """Return a few characters that a class holds."""
    if items and items[0][0] is op.NEGATE:
        allowed = re.compile("[^" + re.escape(members(items[1:])) + "]")
        return "".join(islice(filter(allowed.match, "a9 =.\n<中"), 3))
    found = ""
    for kind, value in items:
        if kind is op.LITERAL:
            found += chr(value)
        elif kind is op.RANGE:
            found += chr(value[0])
        elif kind is op.CATEGORY:
            found += CATEGORIES[value]
    return found


def inner(kind: Any, value: Any) -> list[Any]:
    """Return the sequences of which a part of a pattern is made."""
    if kind is op.BRANCH:
        return list(value[1])
    if kind is op.SUBPATTERN:
        return [value[-1]]
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return [value[2]]
    if kind is op.ATOMIC_GROUP:
        return [value]
    if kind in (op.ASSERT, op.ASSERT_NOT):
        return [value[1]]
    return []


def sample(sequence: Iterable[Any]) -> str:
    """Return a short text that a part of a pattern matches, or nearly."""
    text = ""
    for kind, value in sequence:
        if kind is op.LITERAL:
            text += chr(value)
        elif kind is op.NOT_LITERAL:
            text += "a" if value != ord("a") else "b"
        elif kind is op.ANY:
            text += "a"
        elif kind is op.IN:
            text += members(value)[:1]
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            text += sample(value[2]) * min(max(value[0], 1), 8)
        elif kind is op.ASSERT_NOT:
            continue
        elif parts := inner(kind, value):
            text += sample(parts[0])
    return text


def seeds_of(sequence: Sequence[Any]) -> Iterator[str]:
    """Yield what the parts of a pattern match: beginnings and items of every sequence in it."""
    items = list(sequence)
    for end in range(1, len(items) + 1):
        yield sample(items[:end])
        yield sample(items[end - 1 : end])
    for kind, value in items:
        if kind is op.IN:
            yield from members(value)
        for part in inner(kind, value):
            yield from seeds_of(part)


def texts_of(pattern: str | bytes, flags: int) -> list[Text]:
    """Return the texts that are most likely to be bad for a pattern."""
    own = list(dict.fromkeys(filter(None, seeds_of(_parser.parse(pattern, flags & ~re.DEBUG)))))[:MOST_SEEDS]
    single = list(dict.fromkeys([*own, *GENERIC]))
    letters = [seed for seed in own if len(seed) == 1]
    mixed = ["".join(pair) for pair in permutations(letters[:8], 2)]
    runs = [Text(seed, end=end) for seed in dict.fromkeys([*single, *mixed]) for end in ENDS]
    after = [Text(one, other) for one, other in permutations(letters[:5], 2)]
    edges = letters[:4]
    within = [Text(run, start=start, end=end) for start, run, end in product(edges, letters[:18], edges)]
    return [*runs, *after, *within]


@dataclass(frozen=True, order=True)
class Text:
    """A text of any size: something at its start, one thing again and again, perhaps another, and its end."""

    run: str
    then: str = ""
    start: str = ""
    end: str = ""

    def of(self, size: int) -> str:
        """Return it with about `size` characters."""
        used = list(filter(None, (self.run, self.then)))
        return self.start + "".join(seed * (size // len(used) // len(seed)) for seed in used) + self.end


class TooSlow(BaseException):
    """The time is up."""


def timed(call: Callable[[], object]) -> float:
    """Return the seconds a call takes, at most `LIMIT_SECS`: then it is broken off."""
    begun = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, LIMIT_SECS)
        call()
    except TooSlow:
        return LIMIT_SECS
    except RecursionError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return time.process_time() - begun


def exhaust(pattern: re.Pattern[Any], text: Any) -> None:
    """Find all that a pattern finds."""
    for _ in pattern.finditer(text):
        pass


METHODS: dict[str, Callable[[re.Pattern[Any], Any], object]] = {
    "finditer": exhaust,
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "search": lambda pattern, text: pattern.search(text),
    "match": lambda pattern, text: pattern.match(text),
    "sub": lambda pattern, text: pattern.sub(text[:0], text),
    "split": lambda pattern, text: pattern.split(text),
}


def encoded(pattern: re.Pattern[Any], text: str) -> Any:
    """Return a text as the pattern takes it."""
    return text.encode("utf-8") if isinstance(pattern.pattern, bytes) else text


def faults(pattern: re.Pattern[Any], methods: Sequence[str]) -> Iterator[str]:
    """Yield on which texts a pattern is too slow, in words."""
    small = []
    for made in texts_of(pattern.pattern, pattern.flags):
        text = encoded(pattern, made.of(SMALL))
        tried = [name for name in ("finditer", "fullmatch") if name in methods] or methods
        took = sum(timed(partial(METHODS[name], pattern, text)) for name in tried)
        small.append((took, made))
        if took >= LIMIT_SECS:
            yield f"{made} even with {SMALL} characters"
            return
    for _, made in sorted(small, reverse=True)[:SLOWEST]:
        text = encoded(pattern, made.of(SIZE))
        for name in methods:
            if timed(partial(METHODS[name], pattern, text)) >= LIMIT_SECS:
                yield f"{name} on {made}"
                return


def stop(*_: object) -> None:
    """Break off what runs."""
    raise TooSlow


def tell(where: TextIO, line: str) -> None:
    """Write a line at once: the next pattern may never end."""
    where.write(f"{line}\n")
    where.flush()


def main() -> None:
    """Read patterns, tell which are too slow."""
    signal.signal(signal.SIGPROF, stop)
    for name, source, flags, is_bytes, methods in json.load(sys.stdin):
        tell(sys.stderr, f"trying {name}")
        pattern = re.compile(source.encode("latin-1") if is_bytes else source, flags)
        for fault in faults(pattern, methods or list(METHODS)):
            tell(sys.stdout, f"{name}: {fault}")
    tell(sys.stdout, "done")


if __name__ == "__main__":
    main()
