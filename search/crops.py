"""Crops: how the pictures among the contexts look, and contexts on scanned pages, for models that can see.

A crop is of a document that the asker may read, since its chunk is a context; and it is made only where the
workspace of the document wants its pictures to count, too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from pathlib import Path

from core.errors import LocusError
from core.locations import Box, PageBox
from core.threads import in_database
from kb.documents import original_file, page_cache
from kb.models import Document
from kb.page_images.rendering import crop_png
from kb.pictures import is_multimodal
from search.generation.base import MOST_CROPS, Context, Crop

LONGEST_SIDE = 1024
"""Pixels."""
MARGIN = 12.0
"""Points around text on a scanned page: its boxes come from recognition, and letters reach beyond them."""
PATIENCE_SECS = 10.0
"""How long an answer waits for its crops; it begins with those that are drawn by then."""

logger = logging.getLogger(__name__)

# Threads of their own: whoever waits for its turn to draw must not hold up what others read from files.
_threads = ThreadPoolExecutor(MOST_CROPS, thread_name_prefix="crops")


async def crops_of(contexts: Sequence[Context]) -> list[Crop]:
    """Return the crops of some contexts, by rank; pictures go before scanned pages."""
    wanted = await in_database(_wanted, contexts)
    loop = asyncio.get_running_loop()
    futures = [loop.run_in_executor(_threads, _crop, context, area) for context, area in wanted]
    if not futures:
        return []
    done, late = await asyncio.wait(futures, timeout=PATIENCE_SECS)
    for future in late:
        future.cancel()  # unless it has begun
    crops = (future.result() for future in done)
    return sorted((crop for crop in crops if crop), key=lambda crop: crop.rank)


def _wanted(contexts: Sequence[Context]) -> list[tuple[Context, PageBox]]:
    workspaces = {context.chunk.workspace_id for context in contexts}
    open_to_it = {workspace for workspace in workspaces if is_multimodal(workspace)}
    eligible = [context for context in contexts if context.chunk.workspace_id in open_to_it]
    return [*_pictures(eligible), *_scanned(eligible)][:MOST_CROPS]


def _pictures(contexts: Sequence[Context]) -> Iterator[tuple[Context, PageBox]]:
    seen: set[tuple[Document, PageBox]] = set()
    for context in contexts:
        area = context.chunk.shown.area if context.chunk.shown else None
        # Of a picture with many words there are several chunks.
        if area and (key := (context.chunk.document, area)) not in seen:
            seen.add(key)
            yield context, area


def _scanned(contexts: Sequence[Context]) -> Iterator[tuple[Context, PageBox]]:
    for context in contexts:
        boxes = context.located.boxes()
        if boxes and not context.chunk.shown and boxes[0].page.number in _recognised(context.chunk.document):
            yield context, _around([box for box in boxes if box.page == boxes[0].page])


def _recognised(document: Document) -> set[int]:
    """Return the numbers of the pages whose words were recognised."""
    return {page["number"] for page in (document.quality or {}).get("recognised", [])}


def _around(boxes: Sequence[PageBox]) -> PageBox:
    page = boxes[0].page
    box = reduce(Box.union, (each.box for each in boxes))
    left, top = max(0.0, box.x1 - MARGIN), max(0.0, box.y1 - MARGIN)
    return PageBox(Box(left, top, min(page.width, box.x2 + MARGIN), min(page.height, box.y2 + MARGIN)), page)


def _crop(context: Context, area: PageBox) -> Crop | None:
    document = context.chunk.document
    try:
        file: Path = original_file(document)
        return Crop(
            context.rank,
            crop_png(file, page_cache(document), area, LONGEST_SIDE, asker=document.workspace_id),
        )
    except (LocusError, OSError) as error:
        logger.warning("No crop of document %s, page %s: %s", document.pk, area.page.number, error)
        return None
