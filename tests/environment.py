"""The environment tests run in, set before Django reads its settings: pytest loads this with `-p`.

A temporary data folder and, unless `DATABASE_URL` names another, an embedded PostgreSQL of its own.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

DATA_DIR = Path(tempfile.mkdtemp(prefix="locus-tests-"))
(DATA_DIR / "static").mkdir()

os.umask(0o077)
# What root's tests write, the processes that they start have to read.
os.environ["ALLOW_ROOT"] = "true"
# What a developer keeps in `.env` must not decide how a test ends.
os.environ["ENV_FILE"] = ""
os.environ["DATA_DIR"] = str(DATA_DIR)
os.environ.setdefault("SECRET_KEY", "a key that only tests use")
# An answer to "did this reach a model hub?": never.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

# Before the server starts, so that it runs after the server has stopped.
atexit.register(shutil.rmtree, DATA_DIR, ignore_errors=True)

if "DATABASE_URL" not in os.environ:
    from locus.serve.postgres import allow_databases, start_embedded

    os.environ["DATABASE_URL"] = start_embedded(DATA_DIR)
    allow_databases(os.environ["DATABASE_URL"])
