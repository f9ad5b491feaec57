from typing import Any

from django.db import migrations, models


def leave_choice_to_browser(apps: Any, schema_editor: Any) -> None:
    """Nobody has chosen English: there was no other language."""
    apps.get_model("accounts", "User").objects.filter(language="en").update(language="")


class Migration(migrations.Migration):
    dependencies = [("accounts", "0015_audit_of_models")]

    operations = [
        migrations.AlterField(
            model_name="user",
            name="language",
            field=models.CharField(
                blank=True, help_text="Of pages and mails; blank: as in the browser.", max_length=35
            ),
        ),
        migrations.RunPython(leave_choice_to_browser, migrations.RunPython.noop),
    ]
