"""A new e-mail address counts once its owner has opened the link mailed to it, logged in to the account.

Until then nothing is stored, so nobody can hold a free address. The page answers the same for a taken one.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from allauth.account.adapter import get_adapter
from django import forms
from django.core import signing
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy

from accounts.addresses import vouch_for_address
from accounts.audit.recording import record
from accounts.models import AuditAction, User
from core.errors import Conflict

SALT = "accounts.address_change"
VALID = timedelta(days=1)


class ChangeAddressForm(forms.Form):
    """Asks for the new address."""

    email = forms.EmailField(label=gettext_lazy("New email address"), max_length=254)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].widget.attrs["autocomplete"] = "email"

    def clean_email(self) -> str:
        """Return the address as addresses are stored."""
        return str(self.cleaned_data["email"]).lower()


def mail_link(request: HttpRequest, user: User, address: str) -> None:
    """Mail a link to the new address, or to the owner of an account with it that there is one."""
    token = signing.dumps([user.pk, user.email, address], salt=SALT)
    url = request.build_absolute_uri(reverse("account_confirm_address", args=[token]))
    taken = User.objects.filter(email=address).exclude(pk=user.pk).exists()
    template = "account/email/address_taken" if taken else "account/email/address_change"
    get_adapter().send_mail(template, address, {"url": url, "user": user})


def address_in(token: str, user: User) -> str | None:
    """Return the address that a link of this user confirms; None if the link is old, used or another's."""
    try:
        pk, old, new = signing.loads(token, salt=SALT, max_age=VALID)
    except signing.BadSignature:
        return None
    return str(new) if (pk, old) == (user.pk, user.email) else None


def change_address(user: User, address: str) -> None:
    """Give a user this address, which is verified, and mail the old one; raise `Conflict` if it is taken."""
    old = user.email
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=user.pk)
        if User.objects.filter(email=address).exclude(pk=user.pk).exists():
            raise Conflict("Another account has this address.")
        user.email = address
        user.save(update_fields=["email"])
        vouch_for_address(user)
        record(AuditAction.USER_CHANGED, user, target=("user", user.pk), fields=["email"])
    get_adapter().send_mail("account/email/address_changed", old, {"old": old, "new": address, "user": user})
