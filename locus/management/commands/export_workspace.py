"""`manage.py export_workspace ID FILE --user EMAIL`: writes a workspace into an archive."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import pluralize

from accounts.access.identity import principal_of_user
from accounts.audit.recording import record
from accounts.models import AuditAction, User, Workspace
from accounts.roles import Role
from core.errors import LocusError, NotFound
from core.languages.numbers import size_in_words
from runs.archives.exporting import write_archive


class Command(BaseCommand):
    """Exports without a job, of any size."""

    help = "Write a workspace's documents, chunks, settings and one admin's conversations into an archive."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("workspace", type=UUID)
        parser.add_argument("file", type=Path)
        parser.add_argument("--user", required=True, help="e-mail address of an admin of the workspace")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the archive beside the file, and put it in its place when it is whole."""
        user = User.objects.filter(email=options["user"].lower()).first()
        if user is None:
            raise CommandError(f"There is no user {options['user']}.")
        try:
            principal_of_user(user).require_workspace(options["workspace"], Role.ADMIN)
        except NotFound:
            raise CommandError(
                f"{user.email} is not a member of a workspace {options['workspace']}."
            ) from None
        except LocusError as error:
            raise CommandError(error.message) from None
        workspace = Workspace.objects.get(pk=options["workspace"])
        file: Path = options["file"]
        part = file.with_name(f"{file.name}.part")
        documents = 0

        def count(done: int, total: int) -> None:
            nonlocal documents
            documents = done

        try:
            write_archive(workspace, user, part, count)
            part.replace(file)
        except OSError as error:
            raise CommandError(f"{file} can’t be written: {error.strerror}.") from None
        finally:
            part.unlink(missing_ok=True)
        record(AuditAction.WORKSPACE_EXPORTED, None, workspace_id=workspace.pk, target=("user", user.pk))
        size = size_in_words(file.stat().st_size)
        self.stdout.write(f"{workspace.name}: {documents} document{pluralize(documents)}, {size} in {file}")
