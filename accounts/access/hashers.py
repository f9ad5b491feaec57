"""Hashing passwords without taking the whole machine."""

from __future__ import annotations

import os
import threading

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connection

AT_ONCE = max(1, (os.cpu_count() or 1) // 2)
"""How many passwords a process hashes at the same time: each keeps a core busy for most of a second."""

_turns = threading.BoundedSemaphore(AT_ONCE)


class PatientPBKDF2PasswordHasher(PBKDF2PasswordHasher):
    """Django's own hasher, but a few at a time: whoever comes later waits, and other requests go on."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Return the encoded hash, as Django's does, once it is this password's turn."""
        if not connection.in_atomic_block:
            # Who waits here must not keep others from the database.
            connection.close()
        with _turns:
            return super().encode(password, salt, iterations)
