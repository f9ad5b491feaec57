"""Django's view of the app."""

from django.apps import AppConfig


class SearchConfig(AppConfig):
    """From a question to a cited answer."""

    name = "search"
