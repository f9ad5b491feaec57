"""Secrets that the product must use itself, such as a provider's key: encrypted in the database.

The key is derived from `ENCRYPTION_KEY`, which is kept apart from the database: whoever has a dump alone
reads nothing. API keys of our own users are hashed instead (`accounts.access.keys`).
"""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

PURPOSE = b"locus: secrets in the database"


class Undecryptable(Exception):
    """The secret was encrypted with a key that is not among `ENCRYPTION_KEY` and its fallbacks."""


def encrypt(secret: str) -> str:
    """Return the secret encrypted (AES-128-CBC with an HMAC) with the present key, as ASCII."""
    return _keys().encrypt(secret.encode()).decode()


def decrypt(encrypted: str) -> str:
    """Return the secret; raise `Undecryptable` where no key fits, or the text was changed."""
    try:
        return _keys().decrypt(encrypted.encode()).decode()
    except InvalidToken:
        raise Undecryptable from None


def _keys() -> MultiFernet:
    """Return the present key and, to read with, the earlier ones."""
    return MultiFernet(
        [_fernet(each) for each in (settings.ENCRYPTION_KEY, *settings.ENCRYPTION_KEY_FALLBACKS)]
    )


def _fernet(secret: str) -> Fernet:
    derived = HKDF(SHA256(), 32, salt=None, info=PURPOSE).derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
