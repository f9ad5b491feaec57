"""The side list of the account pages."""

from __future__ import annotations

import json
from typing import Any

from django import template
from django.core.serializers.json import DjangoJSONEncoder
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

register = template.Library()

# Title, name of the address, and names of other addresses that belong to the same entry.
SECTIONS: list[tuple[str | Promise, str, frozenset[str]]] = [
    (
        gettext_lazy("Profile"),
        "account_profile",
        frozenset({"account_change_address", "account_confirm_address"}),
    ),
    (gettext_lazy("Security"), "mfa_index", frozenset({"account_change_password", "account_reauthenticate"})),
    (gettext_lazy("Sessions"), "account_sessions", frozenset()),
    (gettext_lazy("Preferences"), "preferences", frozenset()),
    (gettext_lazy("API keys"), "keys", frozenset()),
    (gettext_lazy("Connected programs"), "account_programs", frozenset()),
    (gettext_lazy("Usage"), "own_usage", frozenset()),
    (gettext_lazy("Your data"), "account_data", frozenset({"account_export", "account_delete"})),
]


@register.filter
def as_json(value: Any) -> str:
    """Return a value as JSON, for an attribute."""
    return json.dumps(value, cls=DjangoJSONEncoder)


@register.inclusion_tag("accounts/account_sections.html", takes_context=True)
def account_sections(context: dict[str, Any]) -> dict[str, Any]:
    """Show the list, with the current page's entry marked."""
    match = context["request"].resolver_match
    here = str(match.url_name) if match else ""
    # allauth's pages of second factors belong to the page Security.
    here = "mfa_index" if here.startswith("mfa_") else here
    sections = [(title, name, here == name or here in others) for title, name, others in SECTIONS]
    return {"sections": sections}
