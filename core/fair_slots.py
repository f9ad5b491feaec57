"""A limited number of slots, given to waiting users in turn: first one to each, then the next to each."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from core.errors import Overloaded


class FairSlots:
    """At most `total` slots, and `per_user` for each user; threads wait for their turn.

    Many requests of one user delay another user's only by those that are running already.
    """

    def __init__(self, total: int, per_user: int, *, most_waiting: int) -> None:
        self._free, self._per_user, self._most_waiting = total, per_user, most_waiting
        self._lock = threading.Lock()
        self._waiting: OrderedDict[Hashable, deque[threading.Event]] = OrderedDict()
        self._running: Counter[Hashable] = Counter()

    @contextmanager
    def slot(self, user: Hashable, patience_secs: float) -> Iterator[None]:
        """Hold a slot; raise `Overloaded` if none is free in time or too many requests of this user wait."""
        turn = threading.Event()
        with self._lock:
            line = self._waiting.setdefault(user, deque())
            if len(line) >= self._most_waiting:
                raise Overloaded
            line.append(turn)
            self._admit()
        if not turn.wait(max(0.0, patience_secs)) and self._left_the_line(user, turn):
            raise Overloaded
        try:
            yield
        finally:
            with self._lock:
                self._free += 1
                self._running[user] -= 1
                if not self._running[user]:
                    del self._running[user]
                self._admit()

    def _left_the_line(self, user: Hashable, turn: threading.Event) -> bool:
        """Stop waiting; return False if the slot was given at this very moment."""
        with self._lock:
            if turn.is_set():
                return False
            self._waiting[user].remove(turn)
            if not self._waiting[user]:
                del self._waiting[user]
            return True

    def _admit(self) -> None:
        while self._free:
            ready = [user for user in self._waiting if self._running[user] < self._per_user]
            if not ready:
                return
            user = ready[0]
            line = self._waiting[user]
            line.popleft().set()
            if line:
                self._waiting.move_to_end(user)
            else:
                del self._waiting[user]
            self._free -= 1
            self._running[user] += 1
