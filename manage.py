#!/usr/bin/env python3
"""Django's commands for Locus; without DATABASE_URL they run on the embedded PostgreSQL below DATA_DIR."""

import os
import sys
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent
ENV_FILE = BASE_DIR / ".env"
SERVING = {"serve", "worker", "setup"}
NEED_NO_DATABASE = {"", "help", "version", "--help", "-h", "--version", "collectstatic"}


def main(arguments: list[str]) -> None:
    """Run one management command."""
    read_env_file()
    if os.geteuid() == 0 and needs_database(arguments):
        if is_on(os.environ.get("ALLOW_ROOT", "")):
            stay_root()
        else:
            leave_root(arguments[1])
    prepare_this_process()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "locus.settings")
    if needs_database(arguments) and not os.environ.get("DATABASE_URL"):
        use_embedded_server()
    from django.core.management import execute_from_command_line

    from core.row_access import act_as_system_in_this_process

    act_as_system_in_this_process()
    try:
        execute_from_command_line(arguments)
    except PermissionError as error:
        sys.exit(f"{error.filename} may not be written: change its permissions, or set DATA_DIR.")
    except KeyboardInterrupt:
        sys.exit(130)


def read_env_file() -> None:
    """Take settings from the file `ENV_FILE`, `.env` beside this one, that the environment does not have."""
    from dotenv import load_dotenv

    name = os.environ.get("ENV_FILE", str(ENV_FILE))
    try:
        if name and Path(name).is_file():
            load_dotenv(name, override=False)
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{name} can't be read: {error}")


def is_on(value: str) -> bool:
    """Read a yes or no as the settings do."""
    return value.lower() in {"1", "true", "t", "yes", "y", "on", "ok"}


def leave_root(command: str) -> None:
    """Go on as an account without powers; what serves refuses to start as root where that is impossible."""
    from locus.serve.account import NAME, RootError
    from locus.serve.account import leave_root as become_account

    serves = command in SERVING
    try:
        become_account(data_dir(), reads_roots_files=not serves)
    except RootError as error:
        if serves:
            sys.exit(
                f"Locus does not serve as root, and can't go on as {NAME}: {error}. "
                "Start it as another account, or set ALLOW_ROOT=on."
            )


def stay_root() -> None:
    """Go on as root, or refuse: documents would fail, and another account could not use what root stores."""
    from locus.serve.account import RootError
    from locus.serve.account import stay_root as stay

    try:
        stay(data_dir())
    except RootError as error:
        sys.exit(
            f"ALLOW_ROOT is on, but {error}, so no document could be read. Start without ALLOW_ROOT, "
            "or give the folder to root, all but its folder `postgres`."
        )


def prepare_this_process() -> None:
    """Keep to ourselves what we write and what we know, before any setting is read."""
    from core.process.file_modes import close_data_dir
    from core.process.hardening import harden_this_process

    harden_this_process()
    if data_dir().is_dir():
        close_data_dir(data_dir())


def data_dir() -> Path:
    """Return the folder that keeps everything."""
    return Path(os.environ.get("DATA_DIR") or BASE_DIR / "var").resolve()


def needs_database(arguments: list[str]) -> bool:
    """Tell whether this command line will ask the database anything."""
    command = arguments[1] if len(arguments) > 1 else ""
    return command not in NEED_NO_DATABASE and not {"--help", "-h"}.intersection(arguments)


def use_embedded_server() -> None:
    """Start or join the embedded server and tell Django where it listens."""
    from locus.serve.postgres import EmbeddedServerError, start_embedded

    try:
        os.environ["DATABASE_URL"] = start_embedded(data_dir())
    except EmbeddedServerError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv)
