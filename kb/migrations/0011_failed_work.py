"""Failed work: why jobs failed, and which failures of documents administrators have dismissed."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Columns that the release before need not fill."""

    dependencies = [("kb", "0010_segment_analysis")]

    operations = [
        migrations.CreateModel(
            name="JobFailure",
            fields=[
                ("job_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField(auto_now=True)),
                (
                    "reason",
                    models.TextField(help_text="the kind of error and where it arose; no words of documents"),
                ),
            ],
        ),
        migrations.AddField(
            model_name="document",
            name="failure_dismissed_at",
            field=models.DateTimeField(
                blank=True,
                help_text="when an administrator took the failure from the list of failed work",
                null=True,
            ),
        ),
    ]
