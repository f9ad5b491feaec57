from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('kb', '0004_idempotent_requests'),
    ]

    operations = [
        migrations.AddField(
            model_name='chunk',
            name='picture',
            field=models.JSONField(help_text='of a picture chunk: kb.pictures', null=True),
        ),
    ]
