"""Descriptions for the pictures of a document: drawn, shown to the model, and kept for the next processing.

A picture that was described once, pixel for pixel the same, by the same model, is not shown to it again:
processing a document again costs nothing, and its chunks keep their ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from accounts.ledger.base import Payer
from accounts.ledger.paying import LedgerPayment
from core.errors import BudgetExceeded, LocusError
from core.llm.payment import Payment
from core.locations import PageBox
from extract.base import Warned
from ingestion.captioning.base import PROMPT
from ingestion.pictures import Description
from kb.documents import document_folder, page_cache
from kb.models import Document
from kb.page_images.rendering import crop_png
from kb.storage import StoredFile

if TYPE_CHECKING:
    from ingestion.captioning.model import Captioner

LONGEST_SIDE = 1024
"""Pixels of the image that the model is shown."""
AT_ONCE = 4
# Who uploads a book of photos need not know what a look at each costs.
MOST_DESCRIBED = 200

Described = dict[PageBox, Description]


def caption_pictures(
    captioner: Captioner,
    document: Document,
    file: StoredFile,
    areas: Sequence[PageBox],
    language: str | None,
    while_waiting: Callable[[], None],
) -> tuple[Described, list[Warned]]:
    """Return what the model says of each picture in a document's file, and a warning if not of all.

    `while_waiting` is called between pictures, and may raise. A model that fails several times in a row is
    not asked again.
    """
    kept = _Kept(document.pk, f"{captioner.name}\n{language}")
    payer = Payer.of(document.workspace_id, owner=document.usage_owner)
    payment = LedgerPayment(lambda: payer)
    look = partial(_look, captioner, document, file, payment, kept, language)
    described: Described = {}
    seen = 0
    refused: BudgetExceeded | None = None
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for start in range(0, min(len(areas), MOST_DESCRIBED), AT_ONCE):
            while_waiting()
            batch = areas[start : start + AT_ONCE]
            said = dict(zip(batch, pool.map(look, batch), strict=True))
            texts = {area: text for area, text in said.items() if isinstance(text, str)}
            described |= {area: Description(text, captioner.name) for area, text in texts.items() if text}
            seen += len(texts)
            refused = next((each for each in said.values() if isinstance(each, BudgetExceeded)), refused)
            if all(text is None for text in said.values()):
                break
    return described, _warnings(captioner.name, len(areas), seen, refused)


def _look(
    captioner: Captioner,
    document: Document,
    file: StoredFile,
    payment: Payment,
    kept: _Kept,
    language: str | None,
    area: PageBox,
) -> str | BudgetExceeded | None:
    """Return a description, None where there is none; what was described before is had without money."""
    try:
        png = crop_png(file, page_cache(document), area, LONGEST_SIDE)
        return kept.get(png, lambda: captioner.description(png, language, payment))
    except BudgetExceeded as error:
        return error
    except LocusError:
        return None


def _warnings(model: str, total: int, seen: int, refused: BudgetExceeded | None) -> list[Warned]:
    if seen == total:
        return []
    what = f"{total - seen} of {total} pictures were not described by {model}"
    if total > MOST_DESCRIBED:
        return [Warned("pictures_undescribed", f"{what}: at most {MOST_DESCRIBED} of a document are.")]
    if refused:
        return [Warned("pictures_undescribed", f"{what}. {refused.message}")]
    advice = "they are found by their captions and the words in them. Process the document again later."
    return [Warned("pictures_undescribed", f"{what}: {advice}")]


class _Kept:
    """Descriptions in the storage, each named by what was described, and how; they go with their document."""

    def __init__(self, document_id: UUID, how: str) -> None:
        self._folder = document_folder(document_id)
        self._how = f"{PROMPT}\n{how}\n".encode()

    def get(self, png: bytes, ask: Callable[[], str | None]) -> str | None:
        """Return the description of an image, asked for if there is none yet; None if that failed."""
        name = f"{self._folder}/description-{hashlib.sha256(self._how + png).hexdigest()}"
        try:
            with default_storage.open(name) as kept:
                return str(kept.read(), "utf-8")
        except FileNotFoundError:
            text = ask()
        if text is not None:
            default_storage.save(name, ContentFile(text.encode()))
        return text
