"""Staff of the admin panel with exactly the permissions that a test names."""

from __future__ import annotations

from django.contrib.auth.models import Permission
from django.test import Client

from accounts.models import User


def staff_client(*permissions: str, email: str = "staff@example.org") -> Client:
    """Return a client of staff with permissions such as `kb.view_document`, and no others."""
    user = User.objects.create_user(email)
    user.is_staff = True
    user.save()
    for name in permissions:
        app, codename = name.split(".")
        user.user_permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))
    return client_of(user)


def client_of(user: User) -> Client:
    """Return a client that is logged in."""
    client = Client()
    client.force_login(user)
    return client
