"""Django's view of the app, and of the admin panel."""

from django.apps import AppConfig
from django.contrib.admin import apps as django_admin


class AccountsConfig(AppConfig):
    """Who is asking and what they may see."""

    name = "accounts"
    verbose_name = "People"
    default = True


class AdminConfig(django_admin.AdminConfig):
    """The admin panel with a site of our own."""

    default_site = "accounts.admin_site.LocusAdminSite"
    default = False
