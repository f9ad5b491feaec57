from typing import Any

from django.db import migrations, models


def join_names(apps: Any, schema_editor: Any) -> None:
    """Write the first and last names as one."""
    for user in apps.get_model("accounts", "User").objects.exclude(first_name="", last_name=""):
        user.name = f"{user.first_name} {user.last_name}".strip()[:150]
        user.save(update_fields=["name"])


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_component_tested")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="name",
            field=models.CharField(
                blank=True, help_text="As others see it; people may leave it out.", max_length=150
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="language",
            field=models.CharField(default="en", help_text="Of the pages.", max_length=35),
        ),
        migrations.AddField(
            model_name="user",
            name="formats",
            field=models.CharField(
                blank=True,
                help_text="How dates and numbers are written; blank: as in the language.",
                max_length=35,
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="time_zone",
            field=models.CharField(
                blank=True, help_text="Blank: the time zone of the browser.", max_length=64
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="theme",
            field=models.CharField(
                choices=[("system", "As the system"), ("light", "Light"), ("dark", "Dark")],
                default="system",
                max_length=10,
            ),
        ),
        migrations.RunPython(join_names, migrations.RunPython.noop),
        migrations.RemoveField(model_name="user", name="first_name"),
        migrations.RemoveField(model_name="user", name="last_name"),
    ]
