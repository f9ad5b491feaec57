"""The worker's nightly clean-up."""

from __future__ import annotations

import logging

from procrastinate.contrib.django import app

from kb.doctor import STALE_CACHES, examine, repair
from kb.page_images import cache as page_cache
from kb.scheduled_deletion import delete_overdue
from kb.storage import remove_forgotten_copies

logger = logging.getLogger(__name__)


@app.periodic(cron="23 3 * * *")
@app.task(name="tidy_caches", queueing_lock="tidy_caches")
def tidy_caches(timestamp: int) -> None:
    """Remove caches of deleted documents, page images that are old or too many, and what is marked."""
    result = examine(STALE_CACHES)
    repair(result)
    removed = page_cache.sweep()
    delete_overdue()
    remove_forgotten_copies()
    logger.info("Removed %d caches without a document, and %d bytes of page images.", result.count, removed)
