"""What is lost while a crowd works and something fails every minute? `python -m bench.outages [--minutes 60]`

Starts two hosts with two web servers each and three workers, a primary database and its replica, an object
store and a cache. People upload, ask over streams that are cut, list and delete. In each period something is
killed, paused or cut off from a host, and comes back. Prints what they did, each promise that was not kept
(a confirmed document is lost, a stream repeats or misses an event, something stays unanswered for four
minutes), what `doctor` finds, and the memory. Ends with 1 if a promise was not kept.
"""

from __future__ import annotations

import argparse
import os
import sys

import django


def main() -> None:
    """Run, print, and end with 1 if a promise was not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--pause", type=float, default=10.0, help="seconds between two acts of a person")
    parser.add_argument("--every", type=float, default=45.0, help="seconds until the next thing fails")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "locus.settings")
    django.setup()
    from bench.outages.running import keeps_its_promises

    sys.exit(0 if keeps_its_promises(**vars(given)) else 1)


if __name__ == "__main__":
    main()
