"""Limits how much of the machine password hashing takes."""

from __future__ import annotations

import os
import threading

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connection

AT_ONCE = max(1, (os.cpu_count() or 1) // 2)
"""How many passwords a process hashes at the same time: each occupies a core for most of a second."""

_turns = threading.BoundedSemaphore(AT_ONCE)


class PatientPBKDF2PasswordHasher(PBKDF2PasswordHasher):
    """Django's own hasher with a limit: further passwords wait, and other requests go on."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Return the encoded hash, like Django's, after waiting for a free place."""
        if not connection.in_atomic_block:
            # Waiting here must not occupy a database connection.
            connection.close()
        with _turns:
            return super().encode(password, salt, iterations)
