"""Django's view of the top app, and of the admin panel."""

from django.apps import AppConfig
from django.contrib.admin import apps as django_admin
from unfold import fields


class LocusConfig(AppConfig):
    """The top app: it knows all other apps, and registers what lower apps must not import."""

    name = "locus"
    default = True

    def ready(self) -> None:
        """Register the tools, and what the admin panel says about rows of lower apps."""
        from locus import admin_facts, demo
        from locus.tools import TOOLS
        from runs.registry import register

        register(TOOLS)
        admin_facts.register()
        demo.connect()


class AdminConfig(django_admin.AdminConfig):
    """The admin panel with a site of our own."""

    default_site = "locus.admin_site.LocusAdminSite"
    default = False

    def ready(self) -> None:
        """Show JSON as text: the theme colours it by inline styles, which our content policy refuses."""
        super().ready()
        fields.prettify_json = lambda data, encoder: None
