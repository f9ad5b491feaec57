"""The gate: text is held until its statements are checked, for readers from whom nothing can be taken back.

raw text ──▶ held ──statement complete──▶ its markers are judged ──▶ sent, with the markers that hold
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from search.citations.markers import cut_partials
from search.citations.resolve import JudgedGroup, Resolved, assemble, boundaries, settled_groups

Judge = Callable[[str, int], Sequence[JudgedGroup]]
"""Returns what becomes of the markers of a text but those of the first so many runs. It may take a while."""


class StatementGate:
    """Takes an answer's raw text piece by piece, and passes on the statements that are complete and checked.

    What it has passed on is a beginning of the response that `finish` returns, but for the form of citations.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._raw = ""
        self._passed = 0
        self._judged: list[JudgedGroup] = []

    def feed(self, piece: str) -> bool:
        """Take a piece; return whether more statements are complete now, so that `release` has work."""
        self._raw += piece
        return self._complete()[0] > self._passed

    def release(self) -> list[str]:
        """Judge the complete statements, and return them cut into partials."""
        end, groups = self._complete()
        if groups > (known := len(self._judged)):
            # What comes behind `end` may change with more text, and is judged again.
            self._judged += self._judge(self._raw, known)[: groups - known]
        return list(self._pass(end))

    def finish(self) -> tuple[list[str], Resolved]:
        """Judge the rest; return it cut into partials, and the whole response."""
        self._raw = self._raw.rstrip()
        self._judged += self._judge(self._raw, len(self._judged))
        return list(self._pass(len(self._raw))), assemble(self._raw, self._judged)

    def _complete(self) -> tuple[int, int]:
        """Return where the complete statements end, and how many runs of markers they have in all.

        More text can't change which statements these markers are about.
        """
        starts, limit = settled_groups(self._raw)
        end = max(
            (each for each in boundaries(self._raw, self._passed) if each <= limit), default=self._passed
        )
        return end, sum(start < end for start in starts)

    def _pass(self, end: int) -> Iterator[str]:
        text, at = "", self._passed
        for group in self._judged:
            if self._passed <= group.start < end:
                text += self._raw[at : group.start] + group.markers
                at = group.end
        text += self._raw[at:end]
        self._passed = max(end, at)
        yield from cut_partials(text)
