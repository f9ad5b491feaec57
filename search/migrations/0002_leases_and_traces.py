import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0001_initial'),
        ('search', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField('execution', 'usage', models.JSONField(help_text='{input_tokens, output_tokens}', null=True)),
        migrations.AddField('execution', 'cost', models.FloatField(help_text='US dollars; null where a price is unknown', null=True)),
        migrations.AddField('execution', 'trace', models.JSONField(help_text='{timings, steps}: how the result came about', null=True)),
        migrations.AddField('execution', 'last_seq', models.PositiveIntegerField(default=0, help_text='the number of its last event')),
        migrations.AddField('execution', 'lease_until', models.DateTimeField(default=django.utils.timezone.now, help_text='the process that runs it moves this on for as long as it lives')),
        migrations.AddIndex('execution', models.Index(fields=['finished_at'], name='execution_finished')),
        migrations.AddIndex('execution', models.Index(condition=models.Q(('status__in', ('queued', 'running'))), fields=['id'], name='execution_live')),
        migrations.RunSQL(
            """
            UPDATE search_execution SET last_seq = counted.events
            FROM (SELECT execution_id, count(*) AS events FROM search_executionevent GROUP BY 1) AS counted
            WHERE counted.execution_id = search_execution.id
            """,
            migrations.RunSQL.noop,
        ),
    ]
