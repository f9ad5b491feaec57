"""Contexts and questions within a fence: what a model that answers is shown."""

from __future__ import annotations

from dataclasses import dataclass

from core.llm import fencing
from core.llm.fencing import FencedText
from search.contexts import Context

LONGEST_LABEL = 200
"""Characters of a document's name or of its headings that a model reads."""


@dataclass(frozen=True, slots=True)
class ContextFence(fencing.Fence):
    """The fence of one question and its sources."""

    def source(self, context: Context, text: str) -> FencedText:
        """Return a context's `text` between its fences, led by where it stands."""
        return self.around(
            f"source_{context.rank}", f"{self._place(context)}\n\n{_mark_machine_text(context, text)}"
        )

    def source_beside(self, context: Context, text: str) -> tuple[FencedText, FencedText]:
        """Return what stands before and behind a crop within the fence of its source."""
        source = self.source(context, text).removesuffix(self.end)
        return FencedText(f"{source}\n<source_{context.rank}> looks like this:"), self.end

    def question(self, text: str) -> FencedText:
        """Return the question between its fences."""
        return self.around("question", text)

    def _place(self, context: Context) -> str:
        page = f", page {context.page_number}" if context.page_number else ""
        lines = [f"Document: {self._label(context.document_name)}{page}"]
        if context.headings:
            lines.append(f"Section: {self._label(' > '.join(context.headings))}")
        return "\n".join(lines)

    def _label(self, text: str) -> str:
        return " ".join(self.harmless(text).split())[:LONGEST_LABEL]


def _mark_machine_text(context: Context, text: str) -> str:
    """Return the text with a mark before the part that a machine wrote, if there is one."""
    start = context.picture.described_from if context.picture else None
    if start is None or start >= len(text):
        return text
    return f"{text[:start]}(A machine has written what follows about the picture:)\n{text[start:]}"
