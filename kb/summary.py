"""Counts the documents of a list: for its filters, and for the storage that it uses."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, F, Func, QuerySet, Sum

from kb.models import Document

MOST_TAGS = 200


def summary_of(documents: QuerySet[Document]) -> dict[str, Any]:
    """Return the number of documents, their bytes, and how many have each status, type, language and tag."""
    rows = documents.order_by()
    tags = rows.annotate(tag=Func(F("tags"), function="unnest"))
    totals = rows.aggregate(documents=Count("pk"), bytes=Sum("size", default=0))
    return totals | {
        "statuses": _counts(rows, "status"),
        "types": _counts(rows.exclude(file_type=""), "file_type"),
        "languages": _counts(rows.exclude(language=None), "language"),
        "tags": _counts(tags, "tag", MOST_TAGS),
    }


def _counts(rows: QuerySet[Any], column: str, most: int | None = None) -> dict[str, int]:
    counted = rows.values_list(column).annotate(count=Count("pk")).order_by("-count", column)
    return dict(counted[:most])
