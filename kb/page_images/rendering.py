"""Page images, crops and waveforms: drawn by short-lived processes, and cached.

A page may attack the renderer, or be slow on purpose. So few pages are drawn at once, users take turns, equal
requests wait for one drawing, and a failed drawing is not tried again for a while.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from core.errors import LocusError, NotFound, Overloaded, Timeout, ValidationError
from core.fair_slots import FairSlots
from core.locations import Box, PageBox
from core.process.telemetry import SWITCHES
from kb.page_images import cache as page_cache
from kb.page_images.drawing import NO_SUCH_PAGE, TIMEOUT_SECS
from kb.storage import StoredFile

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECS = 20.0
"""How long a request waits for its turn to draw."""
MOST_WAITING = 16
"""So many drawings of one user may wait; further ones are refused at once."""
KILLED = (-signal.SIGKILL, -signal.SIGXCPU)
FAILURE_SECS = 600.0
MOST_FAILURES = 10_000
# A page that is too slow at one width counts as too slow at all widths of the same step, and above.
STEPS = (0, 480, 720, 960, 1280, 1600, 2000, 2600, 3200)


def page_png(
    file: StoredFile,
    cache: Path,
    number: int,
    width: int,
    *,
    asker: Hashable = None,
    admit: Callable[[], None] = lambda: None,
) -> bytes:
    """Return page `number` (1-based) as PNG, exactly `width` pixels wide; draw it if it is not cached.

    `asker` identifies the user who takes turns; `admit` may refuse the drawing. Raises `NotFound` if there is
    no such page, `Timeout`, `ValidationError` if it can't be drawn, or `Overloaded`.
    """
    return _read_image(_Drawing(file, number, width), cache / f"{number}-{width}.png", asker, admit)


def crop_png(file: StoredFile, cache: Path, area: PageBox, longest: int, *, asker: Hashable = None) -> bytes:
    """Return a box on a page as PNG whose longer side has `longest` pixels.

    Raises like `page_png`.
    """
    box = Box(*(round(edge, 1) for edge in area.box))
    across, down = max(box.x2 - box.x1, 1), max(box.y2 - box.y1, 1)
    width = max(1, round(longest * across / max(across, down)))
    name = "-".join(map(str, (area.page.number, *box, width)))
    return _read_image(_Drawing(file, area.page.number, width, box), cache / f"{name}.png", asker)


def waveform_json(
    file: StoredFile, cache: Path, *, asker: Hashable = None, admit: Callable[[], None] = lambda: None
) -> bytes:
    """Return the peaks of a recording as JSON, as `kb.page_images.sound` writes them.

    Raises like `page_png`.
    """
    return _read_image(_Waveform(file, 1, 0), cache / "waveform.json", asker, admit)


@dataclass(frozen=True, slots=True)
class _Drawing:
    """What to draw: a page, or a box on it, at a width in pixels."""

    file: StoredFile
    number: int
    width: int
    box: Box | None = None

    TOO_SLOW: ClassVar[str] = "This page takes too long to draw."
    UNREADABLE: ClassVar[str] = "This page can't be drawn at this width."
    PARAM: ClassVar[str | None] = "width"

    def command(self, path: Path) -> list[str]:
        """Return the program that draws it, and its arguments."""
        arguments = (path, self.number, self.width, *(self.box or ()))
        return ["kb.page_images.drawing", *map(str, arguments)]


@dataclass(frozen=True, slots=True)
class _Waveform(_Drawing):
    """The waveform of a recording."""

    TOO_SLOW: ClassVar[str] = "This recording takes too long to measure."
    UNREADABLE: ClassVar[str] = "The sound of this recording can't be read."
    PARAM: ClassVar[str | None] = None

    def command(self, path: Path) -> list[str]:
        """Return the program that draws it, and its arguments."""
        return ["kb.page_images.sound", str(path)]


def _read_image(
    drawing: _Drawing, image: Path, asker: Hashable, admit: Callable[[], None] = lambda: None
) -> bytes:
    for _ in range(2):
        try:
            return _cached_image(drawing, image, asker, admit).read_bytes()
        except FileNotFoundError:  # removed by the sweep at this moment
            continue
    raise NotFound


def _cached_image(drawing: _Drawing, image: Path, asker: Hashable, admit: Callable[[], None]) -> Path:
    """Return the image if it is cached, else draw it; equal requests wait for one drawing."""
    if page_cache.use(image):
        return image
    version = drawing.file.version()
    _failures.check(drawing, version)
    deadline = time.monotonic() + PATIENCE_SECS
    with _only_one(image, PATIENCE_SECS):
        if page_cache.use(image):
            return image
        admit()
        with _slots.slot(asker, deadline - time.monotonic()):
            # It may have failed meanwhile, at another width.
            _failures.check(drawing, version)
            _draw_into(image, drawing, version)
    page_cache.note_stored(image)
    return image


def _draw_into(image: Path, drawing: _Drawing, version: Hashable) -> None:
    image.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        dir=image.parent, prefix=image.stem, suffix=page_cache.DRAFT, delete=False
    ) as draft:
        path = Path(draft.name)
        try:
            _run(drawing, draft.fileno())
            # Rename when complete: another request must never read half an image.
            path.replace(image)
        except Overloaded:  # that the file could not be had says nothing of the page
            raise
        except LocusError as error:
            _failures.add(drawing, version, error)
            raise
        finally:
            path.unlink(missing_ok=True)
            _clean_up_if_deleted(image.parent, drawing, version)


def _clean_up_if_deleted(cache: Path, drawing: _Drawing, version: Hashable) -> None:
    """Remove images of a document that was deleted, or given another file, while they were drawn.

    A deletion removes the file first and the cache after it. So either the file is already gone, and this
    function removes the images, or the deletion will remove the cache later.
    """
    try:
        is_current = drawing.file.version() == version
    except NotFound:
        is_current = False
    if not is_current:
        page_cache.remove(cache)
        raise NotFound


def _run(drawing: _Drawing, output: int) -> None:
    with drawing.file.local_copy() as path:
        status = _exit_status([sys.executable, "-m", *drawing.command(path)], output)
    if status in KILLED:
        raise Timeout(drawing.TOO_SLOW)
    if status == NO_SUCH_PAGE:
        raise NotFound("The document has no such page.")
    if status:
        raise ValidationError(drawing.UNREADABLE, param=drawing.PARAM)


def _exit_status(command: Sequence[str], output: int) -> int:
    """Run the child, and kill it when its time is up; return its exit status.

    A wait with a timeout would poll every 50 ms, so this does not use one.
    """
    # An empty environment: a page that takes the renderer over must find no secrets there.
    process = subprocess.Popen(  # noqa: S603
        command,
        cwd=ROOT,
        # One thread: NumPy's linear algebra would reserve address space for each core, without use.
        env={"PATH": os.defpath, "OPENBLAS_NUM_THREADS": "1", **SWITCHES},
        stdin=subprocess.DEVNULL,
        # A file, whose size the child's limits bound; libraries' output is discarded.
        stdout=output,
        stderr=subprocess.DEVNULL,
    )
    clock = threading.Timer(TIMEOUT_SECS, process.kill)
    clock.daemon = True
    clock.start()
    try:
        return process.wait()
    finally:
        clock.cancel()


# --- Turns -------------------------------------------------------------------------------------------------

# One core stays free for other work.
_slots = FairSlots(max(1, (os.cpu_count() or 1) - 1), per_user=1, most_waiting=MOST_WAITING)


class _RunningDrawing:
    """A running drawing, and the number of threads that wait for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.threads = 0


_under_way: dict[Path, _RunningDrawing] = {}
_under_way_lock = threading.Lock()


@contextmanager
def _only_one(image: Path, patience_secs: float) -> Iterator[None]:
    """Let one thread at a time into the block for each image; raise `Overloaded` after too long a wait."""
    with _under_way_lock:
        entry = _under_way.setdefault(image, _RunningDrawing())
        entry.threads += 1
    try:
        if not entry.lock.acquire(timeout=patience_secs):
            raise Overloaded
        try:
            yield
        finally:
            entry.lock.release()
    finally:
        with _under_way_lock:
            entry.threads -= 1
            if not entry.threads:
                del _under_way[image]


# --- Failures ----------------------------------------------------------------------------------------------


class _Failures:
    """Recent failures of drawings."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, tuple[float, type[LocusError], str, str | None]] = OrderedDict()

    def check(self, drawing: _Drawing, version: Hashable) -> None:
        """Raise the recent error of the same drawing, or of an easier one of the same page."""
        since = time.monotonic() - FAILURE_SECS
        keys = [(drawing, version), *((_page(drawing), version, step) for step in _steps_to(drawing.width))]
        with self._lock:
            known = next((self._known[key] for key in keys if key in self._known), None)
        if known and known[0] > since:
            raise known[1](known[2], param=known[3])

    def add(self, drawing: _Drawing, version: Hashable, error: LocusError) -> None:
        """Remember a failure."""
        key: Hashable = (drawing, version)
        if isinstance(error, Timeout):
            key = (_page(drawing), version, _steps_to(drawing.width)[-1])
        with self._lock:
            self._known[key] = (time.monotonic(), type(error), error.message, error.param)
            self._known.move_to_end(key)
            if len(self._known) > MOST_FAILURES:
                self._known.popitem(last=False)


_failures = _Failures()


def _page(drawing: _Drawing) -> Hashable:
    return drawing.file, drawing.number, drawing.box


def _steps_to(width: int) -> list[int]:
    return [step for step in STEPS if step < width]
