"""What fails, one after the other: something is killed, paused or cut off, and comes back."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Thread
from time import sleep

import psutil

from bench.outages.installation import SERVICES, DidNotStart, Host, Installation

LASTS_SECS = 12.0
"""How long something is away that does not come back by itself."""
START_ATTEMPTS = 30
Outage = tuple[str, Callable[[], None]]


@dataclass
class Failures(Thread):
    """Lets one thing fail in each period until it is stopped, in an order drawn from `seed`."""

    installation: Installation
    every_secs: float
    seed: int
    happened: Counter[str] = field(default_factory=Counter)
    broken: list[Exception] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self._enough = Event()
        self._chance = random.Random(self.seed)  # noqa: S311

    __hash__ = Thread.__hash__

    def run(self) -> None:
        """Wait, let something fail, and so on."""
        outages: list[Outage] = []
        try:
            while not self._enough.wait(self.every_secs):
                outages = outages or self._in_turn()
                name, fail = outages.pop()
                print(f"  {name}", flush=True)
                fail()
                self.happened[name] += 1
        except Exception as error:  # noqa: BLE001 - raised again where it is read
            # What can't be brought back ends the run: it would be taken for a fault of the product.
            self.broken.append(error)

    def stop(self) -> None:
        """Let nothing more fail; what is away comes back first."""
        self._enough.set()
        self.join()
        for error in self.broken:
            raise error

    def _in_turn(self) -> list[Outage]:
        made = self.installation
        outages: list[Outage] = [
            ("the cache is killed", partial(self._away, made.cache.kill, made.cache.start)),
            ("the file store is killed", partial(self._away, made.store.kill, made.store.start)),
            (
                "the replica is killed",
                partial(self._away, made.replica.kill, self._again(made.replica.start)),
            ),
            (
                "the primary is killed",
                partial(self._away, made.primary.kill, self._again(made.primary.start)),
            ),
            ("the cache is paused", lambda: self._pause(made.cache.process)),
            ("the file store is paused", lambda: self._pause(made.store.process)),
            *(outage for host in made.hosts for outage in self._of_host(host)),
        ]
        self._chance.shuffle(outages)
        return outages

    def _of_host(self, host: Host) -> Iterator[Outage]:
        for role in ("web", "worker"):
            yield f"a {role} of {host.name} is killed", partial(self._kill_one, host, role)
            yield f"a {role} of {host.name} is paused", partial(self._pause_one, host, role)
        for name in SERVICES:
            yield f"{host.name} is cut off from the {name}", partial(self._cut, host, [name])
        yield f"{host.name} is cut off from all", partial(self._cut, host, SERVICES)
        yield f"{host.name} is killed", partial(self._away, host.kill, host.start)

    def _away(self, kill: Callable[[], None], start: Callable[[], None]) -> None:
        kill()
        sleep(LASTS_SECS)
        start()

    def _again(self, start: Callable[[], None]) -> Callable[[], None]:
        """Return a start that waits for what a killed server has left behind."""

        def restart() -> None:
            for _ in range(START_ATTEMPTS):
                with suppress(AssertionError):
                    start()
                    return
                sleep(1)
            start()

        return restart

    def _kill_one(self, host: Host, role: str) -> None:
        self._one(host, role).kill()

    def _pause_one(self, host: Host, role: str) -> None:
        self._pause(self._one(host, role))

    def _one(self, host: Host, role: str) -> psutil.Process:
        """Return a web server or worker of a host, which may just be starting again."""
        for _ in range(START_ATTEMPTS):
            if alive := host.children(role):
                return self._chance.choice(alive)
            sleep(1)
        raise DidNotStart(f"{host.name} has no {role}")

    def _pause(self, process: psutil.Process) -> None:
        process.suspend()
        sleep(LASTS_SECS)
        process.resume()

    def _cut(self, host: Host, services: Sequence[str]) -> None:
        for name in services:
            host.relays[name].cut()
        sleep(LASTS_SECS)
        for name in services:
            host.relays[name].join()
