"""Pictures in documents: the picture of a chunk, and the workspace's setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self
from uuid import UUID

from django.conf import settings
from pydantic import Field

from accounts.preferences import WorkspaceSetting
from core.locations import Box, Page, PageBox

Multimodal = Annotated[
    bool | None,
    Field(
        strict=True, description="Whether pictures in documents are found, and shown to models that can see."
    ),
]
MULTIMODAL = WorkspaceSetting("rag", "multimodal", Multimodal, lambda: settings.RAG_MULTIMODAL)


def is_multimodal(workspace_id: UUID) -> bool:
    """Return whether a workspace's pictures become chunks."""
    return bool(MULTIMODAL.value_in(workspace_id))


@dataclass(frozen=True, slots=True)
class Picture:
    """The picture of a picture chunk, and which part of its text a model wrote.

    `area` is the picture's place, None for kinds without coordinates. From `described_from` on, the chunk's
    text is a description by the model `described_by`; both are None without a description.
    """

    area: PageBox | None
    described_from: int | None = None
    described_by: str | None = None

    def dump(self) -> dict[str, Any]:
        """Return the stored form: `{area: {page: [number, width, height], box: [4]} | null, …}`."""
        return {
            "area": self.area and {"page": list(_page(self.area.page)), "box": list(self.area.box)},
            "described_from": self.described_from,
            "described_by": self.described_by,
        }

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Self:
        """Return the picture of which `dump` wrote the form."""
        area = stored["area"]
        place = area and PageBox(Box(*area["box"]), Page(*area["page"]))
        return cls(place, stored["described_from"], stored["described_by"])

    def machine_made(self, length: int) -> list[tuple[int, int]]:
        """Return start and end of the stretches that a machine wrote in a text of this length."""
        return [] if self.described_from is None else [(self.described_from, length)]

    def is_machine_made(self, at: int) -> bool:
        """Return whether a machine wrote the text at an offset in the chunk."""
        return self.described_from is not None and at >= self.described_from

    def boxes(self, of_text: list[PageBox]) -> list[PageBox]:
        """Return the picture's own box, then those boxes of its text that lie outside it: its caption."""
        if self.area is None:
            return of_text
        return [self.area, *(each for each in of_text if not self.area.holds(each))]


def _page(page: Page) -> tuple[int, float, float]:
    return page.number, page.width, page.height
