"""Counting usage: one statement for any number of users, in the transaction of what is counted.

So usage is counted exactly once: what is rolled back is not counted, and what a crash repeats is counted when
it is committed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from uuid import UUID

from django.db import connection

from accounts.principal import UsageOwner

# Rows are locked in one order, so that there is no deadlock between two counts.
COUNT = """
    INSERT INTO accounts_dailyusage AS usage (day, workspace_id, user_id, key_id, external_user_id,
        questions, input_tokens, output_tokens, pages, documents)
    SELECT (now() AT TIME ZONE 'UTC')::date, workspace, usr, key, external,
        sum(questions), sum(input_tokens), sum(output_tokens), sum(pages), sum(documents)
    FROM unnest(%s::uuid[], %s::bigint[], %s::uuid[], %s::text[],
        %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
        AS new (workspace, usr, key, external, questions, input_tokens, output_tokens, pages, documents)
    GROUP BY workspace, usr, key, external ORDER BY workspace, usr, key, external
    ON CONFLICT (workspace_id, day, user_id, key_id, external_user_id) DO UPDATE SET
        questions = usage.questions + excluded.questions,
        input_tokens = usage.input_tokens + excluded.input_tokens,
        output_tokens = usage.output_tokens + excluded.output_tokens,
        pages = usage.pages + excluded.pages,
        documents = usage.documents + excluded.documents
"""


@dataclass(frozen=True, slots=True)
class UsageCount:
    """What one owner has just used in a workspace."""

    workspace_id: UUID
    owner: UsageOwner
    questions: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    pages: int = 0
    documents: int = 0


def count_usage(counts: Iterable[UsageCount]) -> None:
    """Add to today's usage, in the caller's transaction.

    Call it last: until the end of the transaction, others who count for the same owner wait.
    """
    rows = [
        (each.workspace_id, *astuple(each.owner), *(getattr(each, name) for name in COUNTED))
        for each in counts
    ]
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(COUNT, list(map(list, zip(*rows, strict=True))))


COUNTED = ("questions", "input_tokens", "output_tokens", "pages", "documents")
"""The columns of usage that are counted."""
