"""Crops: images of pictures and of scanned text among the contexts, for models that can see.

The asker may search the document of a crop, as for its chunk. Crops are made only if the document's workspace
uses pictures. Web pages have none.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from uuid import UUID

from accounts.principal import Principal
from core.errors import LocusError
from core.locations import Box, PageBox
from core.threads import in_database
from kb.documents import original_file, page_cache
from kb.models import Document
from kb.page_images.rendering import crop_png
from kb.pictures import is_multimodal
from search.contexts import ChunkContext, Context
from search.generation.base import MOST_CROPS, Crop

LONGEST_SIDE = 1024
"""Pixels."""
MARGIN = 12.0
"""Points around text on a scanned page: boxes come from recognition, and letters exceed them."""
PATIENCE_SECS = 10.0
"""How long an answer waits for its crops; it starts with those drawn by then."""

_Wanted = tuple[int, Document, PageBox]
"""The rank of a context, and what of which document to draw."""

logger = logging.getLogger(__name__)

# Threads of their own: waiting for a drawing must not delay other reads of files.
_threads = ThreadPoolExecutor(MOST_CROPS, thread_name_prefix="crops")


async def crops_of(principal: Principal, contexts: Sequence[Context]) -> list[Crop]:
    """Return the crops of some contexts, by rank; pictures come before scanned pages."""
    of_documents = [context for context in contexts if isinstance(context, ChunkContext)]
    wanted = await in_database(_crops_wanted, principal, of_documents) if of_documents else []
    loop = asyncio.get_running_loop()
    futures = [loop.run_in_executor(_threads, _crop, *each) for each in wanted]
    if not futures:
        return []
    done, late = await asyncio.wait(futures, timeout=PATIENCE_SECS)
    for future in late:
        future.cancel()  # unless it has started
    crops = (future.result() for future in done)
    return sorted((crop for crop in crops if crop), key=lambda crop: crop.rank)


def _crops_wanted(principal: Principal, contexts: Sequence[ChunkContext]) -> list[_Wanted]:
    ids = {context.document_id for context in contexts}
    documents = Document.objects.restricted_to(principal).in_bulk(ids)
    open_to_it = {
        workspace
        for workspace in {document.workspace_id for document in documents.values()}
        if is_multimodal(workspace)
    }
    eligible = [
        (context, documents[context.document_id])
        for context in contexts
        if context.document_id in documents and documents[context.document_id].workspace_id in open_to_it
    ]
    return [*_pictures(eligible), *_scanned_contexts(eligible)][:MOST_CROPS]


def _pictures(contexts: Sequence[tuple[ChunkContext, Document]]) -> Iterator[_Wanted]:
    seen: set[tuple[UUID, PageBox]] = set()
    for context, document in contexts:
        area = context.picture.area if context.picture else None
        # A picture with many words has several chunks.
        if area and (document.pk, area) not in seen:
            seen.add((document.pk, area))
            yield context.rank, document, area


def _scanned_contexts(contexts: Sequence[tuple[ChunkContext, Document]]) -> Iterator[_Wanted]:
    for context, document in contexts:
        boxes = context.located.boxes()
        if boxes and not context.picture and boxes[0].page.number in _recognised_pages(document):
            yield context.rank, document, _enclosing_box([box for box in boxes if box.page == boxes[0].page])


def _recognised_pages(document: Document) -> set[int]:
    """Return the numbers of the pages whose words were recognised."""
    return {page["number"] for page in (document.quality or {}).get("recognised", [])}


def _enclosing_box(boxes: Sequence[PageBox]) -> PageBox:
    page = boxes[0].page
    box = reduce(Box.union, (each.box for each in boxes))
    left, top = max(0.0, box.x1 - MARGIN), max(0.0, box.y1 - MARGIN)
    return PageBox(Box(left, top, min(page.width, box.x2 + MARGIN), min(page.height, box.y2 + MARGIN)), page)


def _crop(rank: int, document: Document, area: PageBox) -> Crop | None:
    try:
        file, cache = original_file(document), page_cache(document)
        return Crop(rank, crop_png(file, cache, area, LONGEST_SIDE, asker=document.workspace_id))
    except (LocusError, OSError) as error:
        logger.warning("No crop of document %s, page %s: %s", document.pk, area.page.number, error)
        return None
