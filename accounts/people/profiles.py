"""What people choose for themselves: name, language, how dates and numbers are written, time zone, theme."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal
from zoneinfo import available_timezones

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy
from pydantic import AfterValidator, Strict, StringConstraints

from accounts.models import Theme, User
from core.api.validation import ABSENT, ApiModel
from core.languages import LANGUAGES

Language = Literal["en", "de", "fr"]
Formats = Literal["en-GB", "en-US", "de-DE", "de-CH", "fr-FR", "es-ES", "it-IT", "sv-SE", "ja-JP"]
FORMATS: dict[Formats, str | Promise] = {
    "en-GB": gettext_lazy("English, United Kingdom: 31 Dec 2026, 1,234.5"),
    "en-US": gettext_lazy("English, United States: Dec 31, 2026, 1,234.5"),
    "de-DE": gettext_lazy("German, Germany: 31. Dez. 2026, 1.234,5"),
    "de-CH": gettext_lazy("German, Switzerland: 31. Dez. 2026, 1’234.5"),
    "fr-FR": gettext_lazy("French, France: 31 déc. 2026, 1 234,5"),
    "es-ES": gettext_lazy("Spanish, Spain: 31 dic 2026, 1234,5"),
    "it-IT": gettext_lazy("Italian, Italy: 31 dic 2026, 1234,5"),
    "sv-SE": gettext_lazy("Swedish, Sweden: 31 dec. 2026, 1 234,5"),
    "ja-JP": gettext_lazy("Japanese, Japan: 2026年12月31日, 1,234.5"),
}
"""How dates and numbers are written, by language tags (BCP 47) that browsers know."""


@cache
def time_zones() -> tuple[str, ...]:
    """Return the names of the time zones of regions, and UTC."""
    regions = {name for name in available_timezones() if "/" in name and not name.startswith("Etc/")}
    return ("UTC", *sorted(regions))


def _known_time_zone(name: str) -> str:
    if name not in time_zones():
        raise ValueError("Not a time zone. Write a name such as Europe/Berlin.")
    return name


Name = Annotated[str, StringConstraints(strip_whitespace=True, max_length=150)]
TimeZone = Annotated[str, AfterValidator(_known_time_zone)]


class ProfileChange(ApiModel):
    """The body of `PATCH me`: what is left out stays."""

    name: Name = ABSENT
    language: Language | None = ABSENT
    formats: Formats | None = ABSENT
    time_zone: TimeZone | None = ABSENT
    theme: Theme = ABSENT
    shows_welcome: Annotated[bool, Strict()] = ABSENT

    def apply(self, user: User) -> list[str]:
        """Change the user, and return the names of the fields that have changed."""
        given = {name: "" if value is None else value for name, value in self.as_json().items()}
        changed = [name for name, value in given.items() if getattr(user, name) != value]
        for name in changed:
            setattr(user, name, given[name])
        if changed:
            user.save(update_fields=changed)
        return changed


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]
    """The profile page's form."""

    language = forms.ChoiceField(
        choices=[("", gettext_lazy("As in this browser")), *LANGUAGES.items()],
        required=False,
        label=gettext_lazy("Language"),
    )
    formats = forms.ChoiceField(
        choices=[("", gettext_lazy("As in the language")), *FORMATS.items()],
        required=False,
        label=gettext_lazy("Dates and numbers"),
    )
    time_zone = forms.ChoiceField(required=False, label=gettext_lazy("Time zone"))

    class Meta:
        model = User
        fields = ("name", "language", "formats", "time_zone", "theme")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        zones = [(name, name.replace("_", " ")) for name in time_zones()]
        self.fields["time_zone"].choices = [("", gettext("As in this browser")), *zones]  # type: ignore[attr-defined]
        self.fields["name"].widget.attrs["autocomplete"] = "name"
        self.fields["name"].help_text = gettext("Members of your workspaces see it beside your address.")
