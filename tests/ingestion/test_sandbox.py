"""The limited process: what kills it, and what it may say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ingestion.errors import IngestionError, OutOfMemory
from ingestion.extract.base import Element, Kind, Opened, Progress, Warned
from ingestion.sandbox import parent
from ingestion.sandbox.lines import dump_error, dump_finding
from ingestion.sandbox.parent import SandboxLimits
from ingestion.sandbox.wire import Untrue, read_line
from kb.locations import Box, LocatedText, OnPage, Page

PAGE = Page(1, 200.0, 100.0)
ELEMENT = Element(
    Kind.PARAGRAPH,
    LocatedText.of_words(
        [("two", OnPage(PAGE, 0, Box(1.0, 2.0, 3.0, 4.0))), ("words", OnPage(PAGE, 0, Box(4, 2, 9, 4)))]
    ),
    font_size=10.5,
)
EXHAUSTING = {
    "memory": ("b = bytearray(1 << 40)", "out_of_memory"),
    "killed from outside": ("import os; os.kill(os.getpid(), 9)", "out_of_memory"),
    "time": ("import time; time.sleep(60)", "timeout"),
    "crash": ("import os; os.kill(os.getpid(), 11)", "corrupted"),
    "silence": ("", "internal"),
    "chatter": ("print('not json')", "internal"),
}


@pytest.mark.parametrize(("code", "error_code"), EXHAUSTING.values(), ids=EXHAUSTING)
def test_each_death_has_its_code(monkeypatch: pytest.MonkeyPatch, code: str, error_code: str) -> None:
    limited = (
        "from kb.limits import limit_this_process; limit_this_process(1 << 30, 30)\n"
        "from ingestion.sandbox.lines import dump_error\n"
        "from ingestion.errors import OutOfMemory\n"
        f"try:\n    {code or 'pass'}\nexcept MemoryError:\n    print(dump_error(OutOfMemory()), end='')\n"
    )
    monkeypatch.setattr(parent, "_command", lambda path, limits: [sys.executable, "-c", limited])
    with pytest.raises(IngestionError) as caught:
        list(parent.extract(Path("any"), SandboxLimits(3, 1 << 30, 10)))
    assert caught.value.code == error_code


def test_a_real_file_in_too_little_memory(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"many words " * 20_000_000)
    with pytest.raises(OutOfMemory):
        list(parent.extract(tmp_path / "big", SandboxLimits(60, 256 * 2**20, 10)))


def test_the_child_knows_nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "secret")
    show = "import os; raise SystemExit(17 if 'SECRET_KEY' in os.environ else 0)"
    monkeypatch.setattr(parent, "_command", lambda path, limits: [sys.executable, "-c", show])
    with parent._child(Path("any"), SandboxLimits(3, 1, 1)) as child:
        assert child.wait() == 0


def test_the_child_does_not_load_django() -> None:
    modules = "import sys, ingestion.extract.pdf, ingestion.sandbox.lines; print('django' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", modules], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    "finding",
    [ELEMENT, Opened("pdf", "application/pdf", 3), Progress(1, 2), Warned("a", "b")],
    ids=lambda f: type(f).__name__,
)
def test_findings_survive_the_journey(finding: Element | Opened | Progress | Warned) -> None:
    assert read_line(dump_finding(finding).encode()) == finding


def test_errors_survive_the_journey() -> None:
    with pytest.raises(OutOfMemory, match="one sentence"):
        read_line(dump_error(OutOfMemory("one sentence")).encode())


def line(**changes: object) -> bytes:
    """Return an honest element's line with lies."""
    return json.dumps(json.loads(dump_finding(ELEMENT)) | changes).encode()


def word(*values: float) -> list[dict[str, object]]:
    return [{"page": [1, 200.0, 100.0], "line": 0, "words": [list(values)]}]


LIES = {
    "no json": b"\x80\x04.",
    "unknown type": line(type="Exec"),
    "extra field": line(owner="me"),
    "no text": line(text=None),
    "control characters": line(text="a\x00b"),
    "span beyond the text": line(spans=word(0, 99, 1, 2, 3, 4)),
    "overlapping spans": line(spans=word(0, 3, 1, 2, 3, 4) + word(2, 5, 1, 2, 3, 4)),
    "box off the page": line(spans=word(0, 3, 1, 2, 300, 4)),
    "not a number": line(spans=word(0, 3, float("nan"), 2, 3, 4)),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_lies_are_not_believed(lie: bytes) -> None:
    with pytest.raises(Untrue):
        read_line(lie)
