"""PostgreSQL's `percentile_cont` for Django's queries."""

from __future__ import annotations

from typing import Any

from django.db.models import Aggregate, DurationField, Expression


class Percentile(Aggregate):
    """The value below which a `share` (0 to 1) of the values lies, interpolated."""

    template = "percentile_cont(%(share)s) WITHIN GROUP (ORDER BY %(expressions)s)"
    name = "Percentile"

    def __init__(self, expression: Expression, share: float, **extra: Any) -> None:
        super().__init__(expression, share=float(share), output_field=DurationField(), **extra)
