"""Changes to allauth's forms."""

from __future__ import annotations

from typing import Any

from allauth.account import forms
from allauth.core import context
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_lazy

from accounts.people.invitations import invited_address

ASK_ADMINISTRATOR = gettext_lazy("Forgotten? Your administrator can set a new one.")


class LoginForm(forms.LoginForm):  # type: ignore[misc]
    """Offers a password reset only if its e-mail can be sent."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _name_address(self.fields["login"])
        self.fields["remember"].label = gettext("Stay logged in")
        if not settings.EMAIL_HOST:
            self.fields["password"].help_text = ASK_ADMINISTRATOR


class SignupForm(forms.SignupForm):  # type: ignore[misc]
    """The labels in our own words; where sign-up is closed, only for the address of an invitation."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.invited = invited_address(context.request)
        self.fields["email"].initial = self.invited
        _name_address(self.fields["email"])
        _name_new_password(self.fields)
        self.fields["password1"].label = gettext("Password")
        self.fields["password2"].label = gettext("Password, again")

    def clean_email(self) -> str:
        """Return the address, or raise `ValidationError` for one that was not invited."""
        email: str = super().clean_email()
        if not settings.SIGNUP_OPEN and email.lower() != self.invited:
            raise ValidationError(
                gettext("The invitation is for %(address)s: sign up with that address.")
                % {"address": self.invited}
            )
        return email


class ChangePasswordForm(forms.ChangePasswordForm):  # type: ignore[misc]
    """Offers a password reset only if its e-mail can be sent."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["oldpassword"].label = gettext("Current password")
        _without_placeholder(self.fields["oldpassword"])
        _name_new_password(self.fields)
        if not settings.EMAIL_HOST:
            self.fields["oldpassword"].help_text = ASK_ADMINISTRATOR


class ResetPasswordForm(forms.ResetPasswordForm):  # type: ignore[misc]
    """The label in our own words."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _name_address(self.fields["email"])


class ResetPasswordKeyForm(forms.ResetPasswordKeyForm):  # type: ignore[misc]
    """The labels in our own words."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _name_new_password(self.fields)


class ReauthenticateForm(forms.ReauthenticateForm):  # type: ignore[misc]
    """The label in our own words, and no offer that needs a mail server."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["password"]
        field.label = gettext("Your password")
        field.help_text = "" if settings.EMAIL_HOST else ASK_ADMINISTRATOR
        _without_placeholder(field)
        field.widget.attrs["autofocus"] = True


def _name_address(field: Any) -> None:
    field.label = gettext("Email address")
    _without_placeholder(field)


def _name_new_password(fields: dict[str, Any]) -> None:
    for name, label in (
        ("password1", gettext("New password")),
        ("password2", gettext("New password, again")),
    ):
        fields[name].label = label
        _without_placeholder(fields[name])


def _without_placeholder(field: Any) -> None:
    """Remove the placeholder, which repeats the label in other words."""
    field.widget.attrs.pop("placeholder", None)
