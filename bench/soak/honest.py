"""The honest user: asks, uploads, and looks whether the server is well; patient, but not for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread
from time import perf_counter, sleep

import httpx

QUESTION = "When was the lighthouse on Gull Island built?"
PATIENCE_SECS = 120.0


@dataclass
class Honest:
    """What the honest user saw; times in seconds."""

    port: int
    key: str
    health: list[float] = field(default_factory=list)
    questions: list[float] = field(default_factory=list)
    uploads: list[float] = field(default_factory=list)
    """From the upload of a small text until it can be found by its words."""
    failures: list[str] = field(default_factory=list)
    _enough: Event = field(default_factory=Event)
    _threads: list[Thread] = field(default_factory=list)

    def start(self) -> None:
        """Begin to use the product."""
        for act, pause in ((self._look, 0.25), (self._ask, 2.0), (self._upload, 15.0)):
            thread = Thread(target=self._repeat, args=(act, pause), daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self, after_secs: float) -> None:
        """Go on for some seconds, finish what is under way, and stop."""
        sleep(after_secs)
        self._enough.set()
        for thread in self._threads:
            thread.join(PATIENCE_SECS)

    def _repeat(self, act: Callable[[httpx.Client], None], pause: float) -> None:
        with httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}",
            headers={"Authorization": f"Bearer {self.key}"},
            timeout=PATIENCE_SECS,
        ) as http:
            while not self._enough.wait(pause):
                try:
                    act(http)
                except httpx.HTTPError as failure:
                    self.failures.append(f"{type(failure).__name__}: {failure}")

    def _look(self, http: httpx.Client) -> None:
        begun = perf_counter()
        http.get("/health").raise_for_status()
        self.health.append(perf_counter() - begun)

    def _ask(self, http: httpx.Client) -> None:
        begun = perf_counter()
        reply = http.post("/api/v1/tools/rag_search", json={"query": QUESTION}).raise_for_status()
        self.questions.append(perf_counter() - begun)
        if not reply.json()["answered"]:
            self.failures.append("a question whose answer is there was not answered")

    def _upload(self, http: httpx.Client) -> None:
        begun = perf_counter()
        word = f"lighthouse{len(self.uploads)}x{int(begun)}"
        file = {"files": ("note.txt", f"The keeper of {word} is on leave.".encode())}
        document = http.post("/api/v1/documents", files=file).raise_for_status().json()["documents"][0]
        while perf_counter() < begun + PATIENCE_SECS and not self._enough.wait(0.25):
            state = http.get(f"/api/v1/documents/{document['id']}").raise_for_status().json()
            if state["searchable"] != "none":
                self.uploads.append(perf_counter() - begun)
                break
        else:
            if not self._enough.is_set():
                self.failures.append(f"an upload could not be found after {PATIENCE_SECS:.0f} s")
        http.delete(f"/api/v1/documents/{document['id']}").raise_for_status()
