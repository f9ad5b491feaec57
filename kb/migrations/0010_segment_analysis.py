"""Which analysis made the terms of a segment. Those that are there keep their terms: the analysis is the same."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """With a default of the database, so that a process of the last release can still write."""

    dependencies = [("kb", "0009_narrowing_and_purged")]

    operations = [
        migrations.AddField(
            model_name="segment",
            name="analysis",
            field=models.CharField(
                db_default="1 PyStemmer-3.1.0 stop-words-55b45e5b",
                help_text="core.text.analysis: what made the terms",
                max_length=100,
            ),
        )
    ]
