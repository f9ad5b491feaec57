"""Changes to allauth's forms."""

from __future__ import annotations

from typing import Any

from allauth.account import forms
from django.conf import settings

ASK_ADMINISTRATOR = "Forgotten? Your administrator can set a new one."


class LoginForm(forms.LoginForm):  # type: ignore[misc]
    """Offers a password reset only if its e-mail can be sent."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _name_address(self.fields["login"])
        self.fields["remember"].label = "Stay logged in"
        if not settings.EMAIL_HOST:
            self.fields["password"].help_text = ASK_ADMINISTRATOR


class SignupForm(forms.SignupForm):  # type: ignore[misc]
    """The labels in our own words."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _name_address(self.fields["email"])
        _name_new_password(self.fields)
        self.fields["password1"].label = "Password"
        self.fields["password2"].label = "Password, again"


class ChangePasswordForm(forms.ChangePasswordForm):  # type: ignore[misc]
    """Offers a password reset only if its e-mail can be sent."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["oldpassword"].label = "Current password"
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


def _name_address(field: Any) -> None:
    field.label = "Email address"
    _without_placeholder(field)


def _name_new_password(fields: dict[str, Any]) -> None:
    for name, label in (("password1", "New password"), ("password2", "New password, again")):
        fields[name].label = label
        _without_placeholder(fields[name])


def _without_placeholder(field: Any) -> None:
    """Remove the placeholder, which repeats the label in other words."""
    field.widget.attrs.pop("placeholder", None)
