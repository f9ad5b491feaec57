"""`manage.py mcp`: the Model Context Protocol over standard input and output, for programs nearby."""

from __future__ import annotations

import asyncio
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from mcp.server.stdio import stdio_server

from accounts.access.identity import principal_of_user
from accounts.models import User
from accounts.principal import Principal
from assistants.gateway.mcp.server import server_for


class Command(BaseCommand):
    """Serves one client until it closes its end."""

    help = "Serve the Model Context Protocol over standard input and output, with what a user may see."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare whom the client speaks for."""
        parser.add_argument("--user", required=True, metavar="EMAIL", help="the user whose documents count")

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve."""
        user = User.objects.filter(email__iexact=options["user"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is no user {options['user']}.")
        asyncio.run(_serve(principal_of_user(user)))


async def _serve(principal: Principal) -> None:
    server = server_for(principal, settings.PUBLIC_URL)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
