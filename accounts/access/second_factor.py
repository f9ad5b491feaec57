"""Who has a second factor, and who must have one (`REQUIRE_SECOND_FACTOR`)."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.conf import settings

from accounts.models import User


def has_second_factor(user: User) -> bool:
    """Return whether a user has an app for codes or a passkey; recovery codes alone are none."""
    types = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]
    return bool(Authenticator.objects.filter(user=user, type__in=types).exists())


def lacks_required_factor(user: User) -> bool:
    """Return whether a user has to set up a second factor before anything else."""
    required = settings.REQUIRE_SECOND_FACTOR
    if required == "off" or (required == "staff" and not user.is_staff):
        return False
    return not has_second_factor(user)
