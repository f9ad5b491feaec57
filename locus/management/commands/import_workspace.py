"""`manage.py import_workspace FILE --user EMAIL [--name NAME]`: makes a workspace of an archive."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import pluralize

from accounts.access.identity import principal_of_user
from accounts.models import User
from core.errors import LocusError
from runs.archives.importing import Import
from runs.archives.reading import open_archive
from runs.archives.transfers import new_workspace


class Command(BaseCommand):
    """Imports without a job, archives larger than an upload may be too."""

    help = "Make a new workspace of an archive; the user owns it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--user", required=True, help="e-mail address of the owner")
        parser.add_argument("--name", help="of the workspace, by default the archive's")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read the archive."""
        user = User.objects.filter(email=options["user"].lower()).first()
        if user is None:
            raise CommandError(f"There is no user {options['user']}.")
        if not options["file"].is_file():
            raise CommandError(f"There is no file {options['file']}.")
        workspace, documents = None, 0

        def count(done: int, total: int) -> None:
            nonlocal documents
            documents = done

        try:
            with open_archive(options["file"]) as archive:
                workspace = new_workspace(principal_of_user(user), archive.manifest, options["name"])
                Import(uuid4(), archive, workspace, user, count).run()
        except LocusError as error:
            rest = f" What could be read is in the new workspace {workspace.pk}." if workspace else ""
            raise CommandError(error.message + rest) from None
        made = f"{documents} document{pluralize(documents)}"
        self.stdout.write(f"{workspace.name}: {made} in the new workspace {workspace.pk}")
