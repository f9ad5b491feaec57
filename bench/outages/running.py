"""The whole run: a crowd, what fails meanwhile, and what is left afterwards."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from threading import Event, Thread
from time import monotonic, sleep

import psutil
import psycopg

from bench.outages.crowd import Person, crowd, settled
from bench.outages.failing import Failures
from bench.outages.installation import Installation, installation
from bench.soak.watching import thirds
from locus.serve.postgres import SUPERUSER
from tests.testing.replication import DATABASE

QUIET_SECS = 600
UNFINISHED = """
    SELECT (SELECT count(*) FROM kb_document WHERE status IN ('queued', 'extracting', 'indexing'))
         + (SELECT count(*) FROM search_execution WHERE status IN ('queued', 'running'))
"""
MEMORY_EVERY_SECS = 10.0


class Memory(Thread):
    """Notes the bytes that the largest process of each kind shares with nobody."""

    def __init__(self, made: Installation) -> None:
        super().__init__(daemon=True)
        self._made, self._enough = made, Event()
        self.seen: dict[str, list[int]] = {"web": [], "worker": []}

    def run(self) -> None:
        """Look again and again."""
        while not self._enough.wait(MEMORY_EVERY_SECS):
            for role, seen in self.seen.items():
                try:
                    alive = [each.memory_info() for host in self._made.hosts for each in host.children(role)]
                except psutil.Error:
                    continue
                if alive:
                    seen.append(max(each.rss - each.shared for each in alive))

    def stop(self) -> None:
        """Look no more."""
        self._enough.set()
        self.join()


def keeps_its_promises(minutes: float, people: int, pause: float, every: float, seed: int) -> bool:
    """Run so many minutes with so many people, print what was seen, and return whether all is well."""
    with installation() as made:
        addresses = [host.url for host in made.hosts]
        persons = [Person(addresses, key, number) for number, key in enumerate(made.new_keys(people))]
        failures, memory = Failures(made, every, seed), Memory(made)
        failures.start()
        memory.start()
        asyncio.run(crowd(persons, 60 * minutes, pause))
        failures.stop()
        memory.stop()
        waited = wait_until_quiet(made)
        asyncio.run(settled(persons))
        doctor = made.hosts[0].manage("doctor", "--json")
        faults = sum((host.faults() for host in made.hosts), Counter[str]())
        print(
            "Answered with 500:", *(f"{count} × {line}" for line, count in faults.most_common()), sep="\n  "
        )
        return report(persons, failures, memory, waited, doctor.stdout or doctor.stderr)


def wait_until_quiet(made: Installation) -> float | None:
    """Return the seconds until all documents are read and all runs have ended; None if they are not."""
    begun = monotonic()
    while monotonic() - begun < QUIET_SECS:
        with psycopg.connect(
            host=str(made.primary.folder), dbname=DATABASE, user=SUPERUSER, autocommit=True
        ) as connection:
            row = connection.execute(UNFINISHED).fetchone()
        if row == (0,):
            return monotonic() - begun
        sleep(1)
    return None


def report(
    people: list[Person], failures: Failures, memory: Memory, waited: float | None, doctor: str
) -> bool:
    """Print all that was seen; return whether every promise was kept."""
    done = sum((person.done for person in people), Counter[str]())
    kept = sum(len(person.kept) for person in people)
    broken = [f"person {person.number}: {each}" for person in people for each in person.broken]
    print("What failed:", ", ".join(f"{name} ({times})" for name, times in failures.happened.items()))
    print("What people did:", ", ".join(f"{name} {times:,}" for name, times in sorted(done.items())))
    print(f"{kept:,} documents are kept; quiet after {'never' if waited is None else f'{waited:.0f} s'}")
    for role, seen in memory.seen.items():
        before, after = thirds(seen)
        print(f"Memory of the largest {role}: {before / 2**20:.0f} MB, then {after / 2**20:.0f} MB")
    try:
        findings = json.loads(doctor)["findings"]
    except ValueError:
        findings = [doctor[-1000:]]
    print("The doctor finds nothing" if not findings else f"The doctor finds {findings}")
    print(f"Promises that were not kept: {len(broken)}", *broken, sep="\n  ")
    return waited is not None and not findings and not broken
