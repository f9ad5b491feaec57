"""The table of Django's cache, in place of one of our own (docs/adr/0035-storage-and-cache.md)."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    """The old table stays, empty, so that the last release still finds it; a later migration drops it."""

    dependencies = [
        ("search", "0004_what_executions_read"),
        ("procrastinate", "0041_post_retry_failed_job"),
    ]

    operations = [
        migrations.RunSQL(
            # What `manage.py createcachetable` makes, which leaves a table alone that is there.
            """
            CREATE TABLE IF NOT EXISTS locus_cache (
                cache_key varchar(255) NOT NULL PRIMARY KEY,
                value text NOT NULL,
                expires timestamp with time zone NOT NULL
            );
            CREATE INDEX IF NOT EXISTS locus_cache_expires ON locus_cache (expires);
            """,
            "DROP TABLE IF EXISTS locus_cache",
        ),
        migrations.RunSQL(
            """
            DELETE FROM search_cachedsearch;
            DELETE FROM procrastinate_jobs WHERE task_name = 'delete_expired_searches' AND status = 'todo';
            """,
            migrations.RunSQL.noop,
        ),
        migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel("CachedSearch")]),
    ]
