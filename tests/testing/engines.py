"""Runs engines beside which all tests can run: `python -m tests.testing.engines s3,redis,milvus`.

Prints the variables that name them, as a line of JSON, and ends them when its standard input is closed.
`tests/environment.py` starts it where `TEST_ENGINES` is set, which `bin/test --engines` does.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import django

NAMES = ("s3", "redis", "milvus")
EMBEDDED = {"STORAGE": "folder", "SEARCH_ENGINE": "segments", "REDIS_URL": ""}
"""For a process that has none of them, whatever the tests run beside."""


def main(names: list[str]) -> None:
    """Start, print, wait, end."""
    if unknown := set(names) - set(NAMES):
        sys.exit(f"No such engine: {', '.join(sorted(unknown))}. There are {', '.join(NAMES)}.")
    django.setup()
    # Milvus reports each index that it builds.
    logging.disable(logging.INFO)
    from tests.testing.milvus import milvus_server
    from tests.testing.object_store import ACCESS_KEY, BUCKET, SECRET_KEY, object_store
    from tests.testing.valkey import valkey_server

    variables: dict[str, str] = {}
    with ExitStack() as stack:
        if "s3" in names:
            store = stack.enter_context(object_store())
            variables |= {
                "STORAGE": "s3",
                "S3_BUCKET": BUCKET,
                "S3_ENDPOINT_URL": store.url,
                "S3_ACCESS_KEY_ID": ACCESS_KEY,
                "S3_SECRET_ACCESS_KEY": SECRET_KEY,
            }
        if "redis" in names:
            variables["REDIS_URL"] = stack.enter_context(valkey_server()).url
        if "milvus" in names:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="locus-milvus-"))
            server = stack.enter_context(milvus_server(Path(folder)))
            # It is one process for all, on a machine that does much else.
            patience = {"MILVUS_TIMEOUT_SECS": "60"}
            variables |= {"SEARCH_ENGINE": "milvus", "MILVUS_URI": server.uri} | patience
        sys.stdout.write(json.dumps(variables) + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1].split(","))
