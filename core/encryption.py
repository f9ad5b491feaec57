"""Secrets that the product must use itself, such as a provider's key: encrypted in the database.

The key is derived from `ENCRYPTION_KEY`, which is kept apart from the database: whoever has a dump alone
reads nothing. API keys of our own users are hashed instead (`accounts.access.keys`).
"""

from __future__ import annotations

import base64
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

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


def renew_columns(rows: QuerySet[Any], *columns: str) -> int:
    """Encrypt what columns hold with the present `ENCRYPTION_KEY`, so that the earlier ones can be dropped.

    Return how many rows no `ENCRYPTION_KEY` can decrypt: these stay as they are, as do empty texts.
    """
    undecryptable = 0
    for id in rows.values_list("pk", flat=True):
        with transaction.atomic():
            row = rows.select_for_update().filter(pk=id).first()
            if row is None:
                continue
            held = {name: text for name in columns if (text := getattr(row, name))}
            try:
                renewed = {name: encrypt(decrypt(text)) for name, text in held.items()}
            except Undecryptable:
                undecryptable += 1
                continue
            for name, text in renewed.items():
                setattr(row, name, text)
            if renewed:
                row.save(update_fields=[*renewed])
    return undecryptable


def _keys() -> MultiFernet:
    """Return the present key and, to read with, the earlier ones."""
    return MultiFernet(
        [_fernet(each) for each in (settings.ENCRYPTION_KEY, *settings.ENCRYPTION_KEY_FALLBACKS)]
    )


def _fernet(secret: str) -> Fernet:
    derived = HKDF(SHA256(), 32, salt=None, info=PURPOSE).derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
