import django.contrib.postgres.indexes
from django.db import migrations, models


def index(**options):
    return django.contrib.postgres.indexes.GinIndex(
        django.contrib.postgres.indexes.OpClass(models.F("term"), name="gin_trgm_ops"),
        name="segment_term_trigrams",
        **options,
    )


class Migration(migrations.Migration):
    dependencies = [("kb", "0004_idempotent_requests")]

    operations = [
        # Django would build the index anew.
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "ALTER INDEX segment_term_trigrams SET (fastupdate = off);"
                    "SELECT gin_clean_pending_list('segment_term_trigrams')",
                    "ALTER INDEX segment_term_trigrams SET (fastupdate = on)",
                )
            ],
            state_operations=[
                migrations.RemoveIndex("segmentterm", "segment_term_trigrams"),
                migrations.AddIndex("segmentterm", index(fastupdate=False)),
            ],
        )
    ]
