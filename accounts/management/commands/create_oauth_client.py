"""`manage.py create_oauth_client`: registers a program where not anybody may register one."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.oauth.registering import RefusedRegistration, Registration, register


class Command(BaseCommand):
    """Prints the id of the new program."""

    help = "Register a program that people can connect by OAuth, and print its client_id."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare what a program would say of itself."""
        parser.add_argument("--name", required=True, help="what people are shown")
        parser.add_argument(
            "--redirect-uri", action="append", required=True, metavar="URI", help="repeatable"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Register and print it."""
        asked = {"client_name": options["name"], "redirect_uris": options["redirect_uri"]}
        try:
            program = register(Registration.of(json.dumps(asked).encode()))
        except RefusedRegistration as refused:
            raise CommandError(refused.message) from None
        self.stdout.write(program.client_id)
