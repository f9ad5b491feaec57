"""`manage.py create_api_key`: creates a program's key from the command line."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.access.keys import create_key
from accounts.models import User, Workspace
from accounts.roles import KeyScope


class Command(BaseCommand):
    """Prints a new API key, once."""

    help = "Create an API key and print it. It can't be shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options of contract §3."""
        parser.add_argument("--user", required=True, metavar="EMAIL", help="the user of the key")
        parser.add_argument("--create", action="store_true", help="create the user if it does not exist")
        parser.add_argument(
            "--scopes", nargs="+", choices=KeyScope.values, default=[KeyScope.READ, KeyScope.WRITE]
        )
        parser.add_argument("--workspace", action="append", metavar="ID", help="narrow the key; repeatable")
        parser.add_argument("--name", default="command line")

    def handle(self, *args: Any, **options: Any) -> None:
        """Create and print the key."""
        user = User.objects.filter(email__iexact=options["user"]).first()
        if user is None:
            if not options["create"]:
                raise CommandError(f"There is no user {options['user']}. Add --create to make one.")
            user = User.objects.create_user(options["user"])
        _, secret = create_key(
            user,
            options["name"],
            scopes=options["scopes"],
            workspaces=_workspaces(user, options["workspace"]),
        )
        self.stdout.write(secret)


def _workspaces(user: User, ids: list[str] | None) -> list[Workspace] | None:
    if ids is None:
        return None
    found = list(Workspace.objects.filter(members=user, deleted_at=None, pk__in=ids))
    if len(found) < len(set(ids)):
        raise CommandError(f"{user} is not a member of all these workspaces.")
    return found
