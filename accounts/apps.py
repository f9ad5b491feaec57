"""Django's view of the app."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Who is asking and what they may see."""

    name = "accounts"
    verbose_name = "People"
