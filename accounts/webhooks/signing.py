"""Signatures as in Standard Webhooks (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

PREFIX = "whsec_"
BYTES = 32


def new_secret() -> str:
    """Return a new secret: `whsec_` and 32 random bytes in base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(BYTES)).decode()


def signature_headers(id: str, timestamp: int, body: str, signing_secrets: Sequence[str]) -> dict[str, str]:
    """Return the headers of a message; while a rotation overlaps there is a signature for each secret.

    Each is `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; `timestamp` is in Unix seconds.
    """
    content = f"{id}.{timestamp}.{body}".encode()
    signatures = [
        base64.b64encode(hmac.digest(_key(secret), content, hashlib.sha256)).decode()
        for secret in signing_secrets
    ]
    return {
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


def _key(secret: str) -> bytes:
    return base64.b64decode(secret.removeprefix(PREFIX))
