"""An index for taking jobs from each workspace in turn (`ingestion.queues`)."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    """Each queue's first job is found without looking at the others'."""

    dependencies = [
        ("kb", "0007_external_ids"),
        ("procrastinate", "0041_post_retry_failed_job"),
    ]

    operations = [
        migrations.RunSQL(
            """
            CREATE INDEX IF NOT EXISTS kb_waiting_jobs ON procrastinate_jobs (queue_name, priority DESC, id)
                WHERE status = 'todo';
            CREATE INDEX IF NOT EXISTS kb_locked_jobs ON procrastinate_jobs (lock)
                WHERE status IN ('todo', 'doing');
            """,
            "DROP INDEX IF EXISTS kb_waiting_jobs, kb_locked_jobs",
        )
    ]
