"""Second factors: codes of an app, passkeys and recovery codes, on top of allauth's.

Secrets are stored encrypted. Attempts are counted like logins (ADR 36).
"""

from __future__ import annotations

import base64
import secrets
from typing import Any

from allauth.core import context
from allauth.core.internal.cryptokit import normalize_user_code
from allauth.mfa import app_settings
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base import forms as base_forms
from allauth.mfa.models import Authenticator
from allauth.mfa.totp import forms as totp_forms
from allauth.mfa.webauthn import forms as passkey_forms
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django import forms
from django.conf import settings
from django.core.cache import cache
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext, gettext_lazy

from accounts.access.throttling import SECOND_FACTOR, Bucket, give_back, take
from accounts.models import User
from core.errors import RateLimited

INCORRECT = gettext_lazy("This code is not right. Enter the newest one.")


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Our words, and secrets encrypted with a key made from `SECRET_KEY`."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": INCORRECT,
        "unverified_email": gettext_lazy(
            "Confirm your e-mail address first: open the link that was mailed to you."
        ),
    }

    def encrypt(self, text: str) -> str:
        """Return a secret as it is stored."""
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return a stored secret; if `SECRET_KEY` has changed, one that no code fits."""
        try:
            return _cipher().decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            return base64.b32encode(secrets.token_bytes(20)).decode()

    def generate_authenticator_name(self, user: Any, type: Authenticator.Type) -> str:
        """Return the name of a new passkey until its owner gives it one."""
        count = Authenticator.objects.filter(user_id=user.pk, type=type).count()
        return gettext("Passkey %(number)s") % {"number": count + 1} if count else gettext("Passkey")


def _cipher() -> MultiFernet:
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    digests = [salted_hmac("accounts.second_factors", "", key, algorithm="sha256").digest() for key in keys]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])


class _CountedCode:
    """Part of the forms that take a code: limits the attempts, and takes a code only once."""

    user: User
    cleaned_data: dict[str, Any]

    def clean_code(self) -> str:
        """Return the code, or raise `ValidationError` if it is wrong, used or one of too many."""
        bucket = Bucket.of(SECOND_FACTOR, str(self.user.pk))
        try:
            take(bucket)
        except RateLimited as error:
            context.request.refused_login = error
            raise forms.ValidationError(error.message, code=error.code) from None
        code: str = super().clean_code()  # type: ignore[misc]
        used = f"second-factor:{self.user.pk}:{normalize_user_code(code)}"
        periods = 2 * app_settings.TOTP_TOLERANCE + 1
        if not cache.add(used, "used", timeout=periods * app_settings.TOTP_PERIOD):
            raise forms.ValidationError(INCORRECT, code="incorrect_code")
        give_back(bucket)
        return code


class CodeForm(_CountedCode, base_forms.AuthenticateForm):  # type: ignore[misc]
    """The code asked for after the password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _describe_code(self.fields["code"], gettext("Code of your app, or a recovery code"))


class ReauthenticationCodeForm(_CountedCode, base_forms.ReauthenticateForm):  # type: ignore[misc]
    """The code asked for before a change."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _describe_code(self.fields["code"], gettext("Code of your app, or a recovery code"))


class ActivationForm(_CountedCode, totp_forms.ActivateTOTPForm):  # type: ignore[misc]
    """The first code of a new app."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _describe_code(self.fields["code"], gettext("Code that the app shows now"))


class AddPasskeyForm(passkey_forms.AddWebAuthnForm):  # type: ignore[misc]
    """A new passkey; the browser is asked for one that can log in by itself."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].help_text = gettext("Where it is kept, such as “Work laptop”.")
        self.fields["name"].max_length = 100
        self.fields.pop("passwordless", None)


class RenamePasskeyForm(passkey_forms.EditWebAuthnForm):  # type: ignore[misc]
    """The name of a passkey."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].max_length = 100


def _describe_code(field: Any, label: str) -> None:
    field.label = label
    field.widget.attrs.pop("placeholder", None)
    field.widget.attrs |= {"inputmode": "text", "autofocus": True, "autocomplete": "one-time-code"}
