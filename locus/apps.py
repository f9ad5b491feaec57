"""Django's view of the top app, and of the admin panel."""

from django.apps import AppConfig
from django.contrib.admin import apps as django_admin


class LocusConfig(AppConfig):
    """The top app: it knows all other apps, and registers what lower apps must not import."""

    name = "locus"
    default = True

    def ready(self) -> None:
        """Register the tools."""
        from locus.tools import TOOLS
        from runs.registry import register

        register(TOOLS)


class AdminConfig(django_admin.AdminConfig):
    """The admin panel with a site of our own."""

    default_site = "locus.admin_site.LocusAdminSite"
    default = False
