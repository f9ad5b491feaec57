"""Domain rules: which hosts and paths an entry of a domain list means (contract §6)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DomainRule:
    """One entry of a domain list: a host with its subdomains, or a suffix, and below which path."""

    host: str
    path: str = ""
