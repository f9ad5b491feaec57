"""`manage.py doctor`: whether files, rows, chunks, vectors and jobs agree, and how to repair them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.table import Column, Table

from kb.doctor import CHECKS, Protection, Result, examine, protections, repair
from kb.doctor.report import as_json


class Command(BaseCommand):
    """Finds faults, and repairs them with --repair. Exits with 1 if any remain."""

    help = "Compare files, documents, chunks, vectors and jobs. Changes nothing without --repair."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--repair", action="store_true", help="do the repairs that the table lists")
        parser.add_argument("--json", action="store_true", help="print JSON instead of a table")

    def handle(self, *args: Any, **options: Any) -> None:
        """Examine, perhaps repair, report."""
        results = [examine(check) for check in CHECKS]
        remaining = sum(result.count for result in results)
        if options["repair"] and remaining:
            for result in filter(lambda result: result.count, results):
                repair(result)
            remaining = sum(examine(check).count for check in CHECKS)
        found = [result for result in results if result.count]
        if options["json"]:
            body = {
                "findings": [as_json(result) for result in found],
                "remaining": remaining,
                "protection": [asdict(protection) for protection in protections()],
            }
            self.stdout.write(json.dumps(body, indent=2, ensure_ascii=False))
        else:
            console = Console(soft_wrap=True)
            _print(console, found)
            _print_protections(console, protections())
        if remaining:
            raise CommandError(
                f"Findings that remain: {remaining}." + ("" if options["repair"] else " See --repair.")
            )


def _print(console: Console, found: list[Result]) -> None:
    if not found:
        console.print("Files, documents, chunks, vectors and jobs agree.")
        return
    example = Column("For example", min_width=36, overflow="fold")  # an id, whole
    table = Table("Finding", "Number", example, "Repair", "Repaired", show_lines=True)
    for result in found:
        examples = "\n".join(f"{one.subject}\n{one.detail}".strip() for one in result.examples)
        repaired = str(result.repaired or "") + result.refused
        table.add_row(result.check.what, str(result.count), examples, result.check.remedy, repaired)
    console.print(table, markup=False)


def _print_protections(console: Console, protections: list[Protection]) -> None:
    for protection in protections:
        console.print(" ".join([protection.state, *protection.missing]), markup=False, highlight=False)
