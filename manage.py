#!/usr/bin/env python3
"""Django's commands for Locus; without DATABASE_URL they run on the embedded PostgreSQL below DATA_DIR."""

import os
import sys
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent
NEED_NO_DATABASE = {"", "help", "version", "--help", "-h", "--version", "collectstatic"}


def main(arguments: list[str]) -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kb.settings")
    if needs_database(arguments) and not os.environ.get("DATABASE_URL"):
        use_embedded_server()
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(arguments)
    except PermissionError as error:
        sys.exit(f"{error.filename} may not be written: change its permissions, or set DATA_DIR.")
    except KeyboardInterrupt:
        sys.exit(130)


def needs_database(arguments: list[str]) -> bool:
    """Tell whether this command line will ask the database anything."""
    command = arguments[1] if len(arguments) > 1 else ""
    return command not in NEED_NO_DATABASE and not {"--help", "-h"}.intersection(arguments)


def use_embedded_server() -> None:
    """Start or join the embedded server and tell Django where it listens."""
    from kb.postgres import EmbeddedServerError, start_embedded

    try:
        os.environ["DATABASE_URL"] = start_embedded(Path(os.environ.get("DATA_DIR") or BASE_DIR / "var"))
    except EmbeddedServerError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv)
