"""E-mail addresses: each user has one, verified or not.

`User.email` is the address. The user's `EmailAddress` row of allauth says whether it is verified: by a link
mailed to it, or by an administrator who entered it.
"""

from __future__ import annotations

from allauth.account.models import EmailAddress
from django.contrib.auth.models import AbstractUser
from django.db import transaction


@transaction.atomic
def vouch_for_address(user: AbstractUser) -> None:
    """Mark a user's address as verified, because an administrator entered it."""
    EmailAddress.objects.filter(user=user).exclude(email=user.email).delete()
    # No two users have the same address, so a row of another user is out of date.
    EmailAddress.objects.filter(email=user.email).exclude(user=user).delete()
    EmailAddress.objects.update_or_create(
        user=user, email=user.email, defaults={"verified": True, "primary": True}
    )
