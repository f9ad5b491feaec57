from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('kb', '0013_examinations_and_counts'),
    ]

    operations = [
        migrations.AddField(
            model_name='chunk',
            name='elements',
            field=models.JSONField(help_text='the elements in `text`: kb.chunks.ElementBounds', null=True),
        ),
    ]
