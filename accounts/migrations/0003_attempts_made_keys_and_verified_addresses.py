from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F
from django.db.models.functions import Lower


def write_addresses_small(apps: Any, schema_editor: Any) -> None:
    """Write addresses as they are looked up, but for users whose address another has in other case."""
    users = apps.get_model("accounts", "User").objects
    for user in users.exclude(email=Lower("email")).order_by("pk"):
        if not users.filter(email=user.email.lower()).exists():
            users.filter(pk=user.pk).update(email=user.email.lower())


def keep_one_address_each(apps: Any, schema_editor: Any) -> None:
    """Forget addresses that are not their user's, and verify those that an administrator entered.

    Who signed up has an `EmailAddress` row from then; who has none was entered by an administrator.
    """
    addresses = apps.get_model("account", "EmailAddress").objects
    addresses.exclude(email=F("user__email")).delete()
    for user in apps.get_model("accounts", "User").objects.all():
        own = addresses.filter(user=user)
        if user.is_staff:
            own.update(verified=True, primary=True)
        if not own.exists():
            addresses.create(user=user, email=user.email, verified=True, primary=True)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_preferences"),
        ("account", "0009_emailaddress_unique_primary_email"),
    ]

    operations = [
        migrations.CreateModel(
            name="AttemptBucket",
            fields=[
                (
                    "key",
                    models.CharField(
                        help_text="digest of the limit and who it counts",
                        max_length=64,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "empty_at",
                    models.DateTimeField(db_index=True, help_text="when nothing of them counts any more"),
                ),
            ],
        ),
        migrations.AddField(
            model_name="apikey",
            name="made_by",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                help_text="The key that made this one, and takes it along when it is revoked.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="made_keys",
                to="accounts.apikey",
            ),
        ),
        migrations.RunPython(write_addresses_small, migrations.RunPython.noop),
        migrations.RunPython(keep_one_address_each, migrations.RunPython.noop),
    ]
