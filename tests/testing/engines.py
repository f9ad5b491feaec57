"""Runs engines beside which all tests can run: `python -m tests.testing.engines s3,redis`.

Prints the variables that name them, as a line of JSON, and ends them when its standard input is closed.
`tests/environment.py` starts it where `TEST_ENGINES` is set, which `bin/test --engines` does.
"""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack

import django


def main(names: list[str]) -> None:
    """Start, print, wait, end."""
    if unknown := set(names) - {"s3", "redis"}:
        sys.exit(f"No such engine: {', '.join(sorted(unknown))}. There are s3 and redis.")
    django.setup()
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
        sys.stdout.write(json.dumps(variables) + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1].split(","))
