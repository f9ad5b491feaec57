"""How allauth's forms differ here."""

from typing import Any

from allauth.account.forms import LoginForm as AllauthLoginForm
from django.conf import settings


class LoginForm(AllauthLoginForm):  # type: ignore[misc]
    """Offers to reset a password only where the mail for it would arrive."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not settings.EMAIL_HOST:
            self.fields["password"].help_text = "Forgotten? Your administrator can set a new one."
