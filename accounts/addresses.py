"""E-mail addresses: each user has one, and it counts as verified or not.

`User.email` is the address; allauth's `EmailAddress` row of the same user says whether it is verified: by a
link that was mailed to it, or by an administrator who entered it.
"""

from __future__ import annotations

from allauth.account.models import EmailAddress
from django.contrib.auth.models import AbstractUser
from django.db import transaction


@transaction.atomic
def vouch_for_address(user: AbstractUser) -> None:
    """Count a user's address as verified, because an administrator entered it."""
    EmailAddress.objects.filter(user=user).exclude(email=user.email).delete()
    # No two users have the same address, so this one can't be another's.
    EmailAddress.objects.filter(email=user.email).exclude(user=user).delete()
    EmailAddress.objects.update_or_create(
        user=user, email=user.email, defaults={"verified": True, "primary": True}
    )
