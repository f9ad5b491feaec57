"""The host names under which the server answers."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from core.errors import ValidationError

logger = logging.getLogger(__name__)


def is_allowed_host(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether `ALLOWED_HOSTS` names the host in the headers, if they name one."""
    host = _host(headers)
    if host is None:
        return True
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def require_allowed_host(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Raise `ValidationError` for a host that is not allowed; Django would log a stack trace for each."""
    if not is_allowed_host(headers):
        logger.warning("Refused a request for host %.100r, which is not in ALLOWED_HOSTS", _host(headers))
        raise ValidationError("This server does not answer to this host name.", param="Host")


def _host(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
    # As Django reads them: two hosts are an invalid one.
    return ",".join(hosts) if hosts else None
