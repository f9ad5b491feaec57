"""Jobs under a name for people, with permissions of their own."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    """A proxy: no table changes."""

    dependencies = [
        ("locus", "0001_panel_permissions"),
        ("procrastinate", "0041_post_retry_failed_job"),
    ]

    operations = [
        migrations.CreateModel(
            name="QueuedJob",
            fields=[],
            options={
                "verbose_name": "job",
                "verbose_name_plural": "failed work",
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("procrastinate.procrastinatejob",),
        ),
    ]
