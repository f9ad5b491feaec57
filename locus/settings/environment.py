"""The environment's readers and checks, which the files of this package share."""

import os
import re
import secrets
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from environs import Env, ValidationError

from core.process.telemetry import switch_off

# Here, because every process reads this before it loads a library with telemetry.
switch_off()

BASE_DIR = Path(__file__).resolve().parents[2]
VERSION = "0.1.0"


class _Environment(Env):
    """Treats an empty variable as unset, because compose files produce one for `${NAME:-}`."""

    def _get_value(self, env_key: str, default: Any) -> Any:
        value = super()._get_value(env_key, default)
        return default if isinstance(value, str) and not value.strip() else value


env = _Environment(eager=False)


def refuse_all_but_classes(name: str) -> None:
    """Refuse a dotted path that leads to no class of an installed module."""
    module = name.rpartition(".")[0]
    try:
        is_there = find_spec(module) is not None if module else False
    except ImportError:
        is_there = False
    if not is_there:
        raise ValidationError(f"“{name}” is not the dotted path of a class that is installed.")


def refuse_all_but_objects(options: Any) -> None:
    """Refuse JSON other than an object."""
    if not isinstance(options, dict):
        raise ValidationError("Not a JSON object.")


def refuse_all_but_http(url: str) -> None:
    """Refuse an address of another scheme; an empty one is none."""
    if url and not re.fullmatch(r"https?://[^\s/]+\S*", url):
        raise ValidationError("Not an address that begins with http:// or https://.")


DATA_DIR = Path(env.str("DATA_DIR", "") or BASE_DIR / "var").resolve()


def secret(variable: str) -> str:
    """Return a secret of the environment, or one generated on the first start and kept in `DATA_DIR`.

    The file is complete as soon as it exists: several processes may start at once.
    """
    given = env.str(variable, None)
    if given:
        return given
    path = DATA_DIR / variable.lower()
    if not path.exists():
        DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(48))
        with suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return path.read_text()


def _refuse_all_but_keys(key: str) -> None:
    # What is not printable ASCII can't be sent; the key itself is not repeated.
    if key and not re.fullmatch(r"[!-~]+", key):
        raise ValidationError("Not a key: only printable ASCII without spaces.")


def provider_url(name: str, default: str) -> str:
    """Read the address of another company's service."""
    return env.str(name, default, validate=refuse_all_but_http)


def provider_key(name: str) -> str:
    """Read a key for another company's service; empty: none."""
    return env.str(name, "", validate=_refuse_all_but_keys)
