"""The ledger lives in `kb`: nothing of it is left here, and nothing in the database changes."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('kb', '0006_ledger'),
        ('search', '0003_web_state'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.DeleteModel(name='Charge'),
                migrations.DeleteModel(name='Balance'),
            ],
        ),
    ]
