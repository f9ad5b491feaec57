"""Domain rules: which hosts and paths an entry of a domain list means (contract §6).

An entry is a host (with its subdomains), a suffix that begins with a dot (`.gov`), or a URL, of which the
scheme, the port, the query and the fragment do not matter and the path is a prefix, up to a `/`. Names
compare lower-case, as IDNA writes them in ASCII.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from urllib.parse import unquote

import httpx2

from core.fetch.urls import HOST

# Not longer than any host with a path that somebody would type, and nobody's name before the host.
_ENTRY = re.compile(
    r"(?:https?://)?+(?P<dot>\.?)(?P<rest>[^-./?#@:][^/?#@]{0,252}(?<!:)(?:[/?#].{0,500})?)", re.IGNORECASE
)
_NO_ENTRY = "must be a host, as example.org, a .suffix, or a URL that begins with http:// or https://"


@dataclass(frozen=True, slots=True)
class DomainRule:
    """One entry of a domain list: a host with its subdomains, or a suffix, and below which path."""

    host: str
    """In ASCII, lower-case, without a dot at its end; a suffix begins with one."""
    path: str = ""
    """Decoded; empty, or `/` and more without a `/` at its end."""

    @classmethod
    def parse(cls, entry: str) -> DomainRule:
        """Read an entry; raise `ValueError` with a sentence for people if it is none."""
        found = _ENTRY.fullmatch(entry.strip())
        if found is None:
            raise ValueError(_NO_ENTRY)
        try:
            host, path = place_of(f"https://{found['rest']}")
        except ValueError:
            raise ValueError(_NO_ENTRY) from None
        return cls(found["dot"] + host, path)

    @property
    def is_suffix(self) -> bool:
        """Whether it means only what lies below a name."""
        return self.host.startswith(".")

    @property
    def site(self) -> str:
        """The host to name where suffixes are not told apart; with its subdomains it covers the rule."""
        return self.host.removeprefix(".")

    @property
    def is_exactly_a_site(self) -> bool:
        """Whether `site` with its subdomains is all that the rule means."""
        return not self.path and (not self.is_suffix or "." not in self.site)

    def holds(self, host: str, path: str) -> bool:
        """Tell whether a place, as `place_of` gives it, is meant."""
        return _in_host(host, self.host) and _in_path(path, self.path)

    def __str__(self) -> str:
        return self.host + self.path


def place_of(url: str) -> tuple[str, str]:
    """Return host and path of an http(s) URL, each in the one form that rules compare.

    Raise `ValueError` for anything else, and for what browsers might read as another host.
    """
    if "\\" in url or any(char.isspace() or not char.isprintable() for char in url):
        raise ValueError("not a URL")
    try:
        parsed = httpx2.URL(url)
        host = parsed.raw_host.decode().removesuffix(".")
        path = unquote(parsed.raw_path.decode().partition("?")[0])
    except (httpx2.InvalidURL, UnicodeError) as error:
        raise ValueError(str(error)) from None
    if parsed.scheme not in ("http", "https") or not HOST.fullmatch(host):
        raise ValueError("not a URL of the web")
    # Browsers take %2e%2e for the parent folder too.
    return host, posixpath.normpath(f"/{path.lstrip('/')}").rstrip("/")


def matches(url: str, rules: Iterable[DomainRule]) -> bool:
    """Tell whether a URL is meant by one of the rules; what is no URL is not."""
    try:
        host, path = place_of(url)
    except ValueError:
        return False
    return any(rule.holds(host, path) for rule in rules)


def in_all(lists: Sequence[Iterable[DomainRule]]) -> tuple[DomainRule, ...]:
    """Return rules that mean what one rule of each list means: none if nothing is in all of them."""
    return tuple(dict.fromkeys(reduce(_in_both, lists)))


def _in_both(ours: Iterable[DomainRule], theirs: Iterable[DomainRule]) -> Iterable[DomainRule]:
    met = (_intersection(one, other) for one, other in product(ours, theirs))
    return [rule for rule in met if rule]


def _intersection(one: DomainRule, other: DomainRule) -> DomainRule | None:
    """Return the rule of what both mean."""
    for wide, narrow in ((one, other), (other, one)):
        if not _in_host(narrow.host, wide.host):
            continue
        if _in_path(narrow.path, wide.path):
            return narrow
        if _in_path(wide.path, narrow.path):
            return DomainRule(narrow.host, wide.path)
    return None


def _in_host(host: str, rule: str) -> bool:
    """Tell whether a host, or all that a rule's host means, lies within what another rule's host means."""
    return host == rule or host.endswith(rule if rule.startswith(".") else f".{rule}")


def _in_path(path: str, prefix: str) -> bool:
    return path == prefix or path.startswith(f"{prefix}/")
