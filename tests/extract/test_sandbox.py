"""The limited process: what kills it, and what it may say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.confinement.limits import NICENESS
from core.errors import DocumentError
from core.locations import Box, InFile, InTime, LocatedText, OnPage, Page, PageBox
from extract.base import (
    Attached,
    Element,
    Finding,
    Kind,
    Limits,
    Opened,
    Pictured,
    Request,
    TextOrigin,
    UnitRead,
    Warned,
)
from extract.errors import OutOfMemory
from extract.sandbox import child, parent, processes
from extract.sandbox.child import Child
from extract.sandbox.lines import dump_error, dump_finding
from extract.sandbox.parent import SandboxLimits
from extract.sandbox.wire import ProtocolError, read_line
from tests.testing.paths import ROOT, SAMPLES

PAGE = Page(1, 200.0, 100.0)
ELEMENT = Element(
    Kind.PARAGRAPH,
    LocatedText.of_words(
        [("two", OnPage(PAGE, 0, Box(1.0, 2.0, 3.0, 4.0))), ("words", OnPage(PAGE, 0, Box(4, 2, 9, 4)))]
    ),
    font_size=10.5,
)
PICTURED = Pictured(PageBox(Box(1.0, 2.0, 100.0, 50.0), PAGE), "0a1b2c", (ELEMENT.located,))
EXHAUSTING = {
    "memory": ("b = bytearray(1 << 40)", "out_of_memory"),
    "killed from outside": ("import os; os.kill(os.getpid(), 9)", "out_of_memory"),
    "time": ("import time; time.sleep(60)", "timeout"),
    "crash": ("import os; os.kill(os.getpid(), 11)", "corrupted"),
    "silence": ("", "internal"),
    "chatter": ("print('not json')", "internal"),
}


def run_instead(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Have children run this program."""
    monkeypatch.setattr(
        child, "start", lambda _, out, log: processes.SpawnedChild([sys.executable, "-c", code], out, log)
    )


@pytest.mark.parametrize(("code", "error_code"), EXHAUSTING.values(), ids=EXHAUSTING)
def test_each_death_has_its_code(monkeypatch: pytest.MonkeyPatch, code: str, error_code: str) -> None:
    limited = (
        "from core.confinement.limits import limit_this_process; limit_this_process(1 << 30, 30)\n"
        "from extract.sandbox.lines import dump_error\n"
        "from extract.errors import OutOfMemory\n"
        f"try:\n    {code or 'pass'}\n"
        "except MemoryError:\n    print(dump_error(OutOfMemory()).decode(), end='')\n"
    )
    run_instead(monkeypatch, limited)
    with pytest.raises(DocumentError) as caught:
        list(parent.extract(Path("any"), SandboxLimits(3, 1 << 30, 10)))
    assert caught.value.code == error_code


def test_a_real_file_in_too_little_memory(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"many words " * 20_000_000)
    with pytest.raises(OutOfMemory):
        list(parent.extract(tmp_path / "big", SandboxLimits(60, 256 * 2**20, 10)))


def test_the_child_knows_nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "secret")
    show = "import os; raise SystemExit(17 if 'SECRET_KEY' in os.environ else 0)"
    run_instead(monkeypatch, show)
    with Child(Path("any"), Request(Limits(1)), SandboxLimits(3, 1, 1)) as process:
        assert process._process.wait() == 0


@pytest.mark.skipif(not processes.CAN_FORK, reason="children are forked on Linux only")
class TestForkServer:
    @pytest.fixture
    def server(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[psutil.Process]:
        """A fork server of its own, that has served once."""
        own = processes.ForkServer()
        monkeypatch.setattr(processes, "_server", own)
        before = set(psutil.Process().children())
        assert read_sample()
        [server] = set(psutil.Process().children()) - before
        yield server
        own.stop()

    def test_it_knows_nothing_of_ours(
        self, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
    ) -> None:
        monkeypatch.setenv("SECRET_KEY", "secret")
        server: psutil.Process = request.getfixturevalue("server")
        assert server.environ() == processes.ENVIRONMENT

    def test_it_leaves_nothing_behind(self, server: psutil.Process) -> None:
        assert read_sample() == read_sample()
        _, alive = psutil.wait_procs(server.children(recursive=True), timeout=10)
        assert not alive

    def test_another_takes_its_place(self, server: psutil.Process) -> None:
        server.kill()
        server.wait()
        assert read_sample()

    def test_everything_ends_with_the_worker(self, tmp_path: Path) -> None:
        # A pipe that nobody writes to keeps its reader waiting.
        os.mkfifo(tmp_path / "endless")
        work = (
            "import sys; from pathlib import Path; from extract.sandbox.parent import *\n"
            "list(extract(Path(sys.argv[1]), SandboxLimits(60, 1 << 30, 10)))"
        )
        worker = subprocess.Popen([sys.executable, "-c", work, str(tmp_path / "endless")])
        while len(started := psutil.Process(worker.pid).children(recursive=True)) < len(
            ("server", "keeper", "child")
        ):
            time.sleep(0.05)
        worker.kill()
        worker.wait()
        _, alive = psutil.wait_procs(started, timeout=10)
        assert not alive


def read_sample() -> list[Finding]:
    return list(parent.extract(SAMPLES / "report.pdf", SandboxLimits(60, 1 << 30, 100)))


def test_the_child_does_not_load_django() -> None:
    modules = "import sys, extract.pdf.reader, extract.sandbox.lines; print('django' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", modules], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    "finding",
    [
        ELEMENT,
        Element(Kind.PARAGRAPH, LocatedText.of_words([("said", InTime(0.5, 1.25))])),
        Element(Kind.PARAGRAPH, LocatedText.of_words([("x = 1", InFile(lines=(3, 4)))])),
        Element(
            Kind.TABLE,
            LocatedText.of_words([("7", InFile(sheet="Sales", cells=(1, 1, 1, 1)))]),
            rows=((0, 1),),
        ),
        Opened("pdf", "application/pdf", 3, 3, title="A title", is_cut_off=True),
        UnitRead(1, TextOrigin.OCR, 0.75, 1, 2),
        PICTURED,
        Attached("../notes.txt", "a1"),
        Warned("a", "b"),
    ],
    ids=lambda f: type(f).__name__,
)
def test_findings_survive_the_journey(finding: Finding) -> None:
    assert read_line(dump_finding(finding)) == finding


def test_errors_survive_the_journey() -> None:
    with pytest.raises(OutOfMemory, match="one sentence"):
        read_line(dump_error(OutOfMemory("one sentence")))


def line(**changes: object) -> bytes:
    """Return an honest element's line with lies."""
    return json.dumps(json.loads(dump_finding(ELEMENT)) | changes).encode()


def picture(**changes: object) -> bytes:
    """Return an honest picture's line with lies."""
    return json.dumps(json.loads(dump_finding(PICTURED)) | changes).encode()


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
    "unknown place": line(spans=[{"in": {"shelf": 3}, "words": [[0, 3]]}]),
    "lines upside down": line(spans=[{"in": {"lines": [4, 3]}, "words": [[0, 3]]}]),
    "rows beyond the text": line(rows=[[0, 99]]),
    "a picture off the page": picture(area={"page": [1, 200.0, 100.0], "box": [10, 10, 300, 20]}),
    "a picture of no size": picture(area={"page": [1, 200.0, 100.0], "box": [10, 10, 10, 20]}),
    "an element's picture that is a path": line(picture="../x"),
    "a fingerprint that is a path": picture(fingerprint="../x"),
    "words beside the picture's page": picture(words=[{"text": "abc", "spans": word(0, 3, 1, 2, 300, 4)}]),
    "an attachment outside the folder": dump_finding(Attached("a", "../../etc/passwd")),
    "more than certain": dump_finding(UnitRead(1, TextOrigin.OCR, 1.5)),
    "not a number": line(spans=word(0, 3, float("nan"), 2, 3, 4)),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_lies_are_not_believed(lie: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_line(lie)


# --- A unit that kills its reader ---------------------------------------------------------------------------

FIVE_PAGES = """
import os, sys
from extract.base import Element, Kind, Opened, TextOrigin, UnitRead
from extract.sandbox.lines import dump_end, dump_finding
from core.locations import LocatedText
fatal, arguments = eval(sys.argv[1]), sys.argv[2:]
safe_mode = "--safe-mode" in arguments
units = eval(arguments[arguments.index("--units") + 1] + ",") if "--units" in arguments else None
print(dump_finding(Opened("pdf", "application/pdf", 5, 5)).decode(), end="")
for number in units or range(1, 6):
    text = LocatedText(f"{'simple' if safe_mode else 'page'} {number}")
    print(dump_finding(Element(Kind.PARAGRAPH, text)).decode(), end="")
    sys.stdout.flush()
    if fatal.get(number) in ("always", None if safe_mode else "once"):
        os.kill(os.getpid(), 11)
    print(dump_finding(UnitRead(number, TextOrigin.TEXT)).decode(), end="", flush=True)
print(dump_end().decode(), end="")
"""


def read_five_pages(
    monkeypatch: pytest.MonkeyPatch,
    fatal: dict[int, str],
    read: list[Finding] | None = None,
    **request: Any,
) -> list[Finding]:
    """Read the five pages, of which some are fatal to their reader, once or always."""
    read = [] if read is None else read

    def start(arguments: Sequence[str], out: int, log: int) -> processes.SpawnedChild:
        return processes.SpawnedChild([sys.executable, "-c", FIVE_PAGES, repr(fatal), *arguments], out, log)

    monkeypatch.setattr(child, "start", start)
    for finding in parent.extract(Path("any"), SandboxLimits(30, 1 << 30, 10), **request):
        read.append(finding)
    return read


class Enough(Exception):
    """Whoever waits has waited long enough."""


def texts_and_sources(findings: list[Finding]) -> list[str]:
    assert sum(isinstance(finding, Opened) for finding in findings) == 1
    return [
        finding.text if isinstance(finding, Element) else f"{finding.number} {finding.source}"
        for finding in findings
        if isinstance(finding, Element | UnitRead)
    ]


def test_a_page_that_kills_its_reader_is_read_in_a_simpler_way(monkeypatch: pytest.MonkeyPatch) -> None:
    assert texts_and_sources(read_five_pages(monkeypatch, {3: "once"})) == [
        *("page 1", "1 text", "page 2", "2 text", "simple 3", "3 text"),
        *("page 4", "4 text", "page 5", "5 text"),
    ]


def test_a_page_that_kills_every_reader_is_all_that_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    assert texts_and_sources(read_five_pages(monkeypatch, {1: "always", 5: "always"})) == [
        *("1 unreadable", "page 2", "2 text", "page 3", "3 text", "page 4", "4 text", "5 unreadable"),
    ]


def test_only_the_units_that_were_asked_for_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_five_pages(monkeypatch, {4: "always"}, units=(2, 4), deep=True)
    assert texts_and_sources(found) == ["page 2", "2 text", "4 unreadable"]


@pytest.mark.parametrize(
    "fatal", [{}, {2: "always"}, {3: "once"}, {1: "always", 5: "always"}, {4: "once", 5: "once"}], ids=str
)
def test_two_halves_are_a_whole(monkeypatch: pytest.MonkeyPatch, fatal: dict[int, str]) -> None:
    whole = texts_and_sources(read_five_pages(monkeypatch, fatal))
    monkeypatch.setattr(parent, "WORTH_HALVING", 2)
    monkeypatch.setattr(parent, "CORES", 2)
    assert texts_and_sources(read_five_pages(monkeypatch, fatal)) == whole


def test_waiting_for_the_second_half_can_be_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = FIVE_PAGES.replace(
        "    text =", "    import time; time.sleep(60 if number > 2 else 0)\n    text ="
    )
    monkeypatch.setattr("tests.extract.test_sandbox.FIVE_PAGES", slow)
    monkeypatch.setattr(parent, "WORTH_HALVING", 2)
    monkeypatch.setattr(parent, "CORES", 2)
    read: list[Finding] = []

    def enough() -> None:
        if len(read) == len(("opened", "page 1", "1 text", "page 2", "2 text")):
            raise Enough

    with pytest.raises(Enough):
        read_five_pages(monkeypatch, {}, read, while_waiting=enough)


def test_waiting_can_be_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def enough() -> None:
        raise Enough

    run_instead(monkeypatch, "import time; time.sleep(60)")
    with pytest.raises(Enough):
        list(parent.extract(Path("any"), SandboxLimits(30, 1 << 30, 10), while_waiting=enough))


def test_a_child_that_is_killed_from_outside_is_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mark = tmp_path / "killed"
    once = f'not os.path.exists("{mark}") and not open("{mark}", "w").close()'
    killed = FIVE_PAGES.replace("11", "9").replace(
        'in ("always", None if safe_mode else "once")', f"and {once}"
    )
    monkeypatch.setattr("tests.extract.test_sandbox.FIVE_PAGES", killed)
    assert texts_and_sources(read_five_pages(monkeypatch, {3: "once"})) == [
        text for number in range(1, 6) for text in (f"page {number}", f"{number} text")
    ]


def test_a_lower_priority_is_not_lowered_again() -> None:
    """A child of a worker has the worker's priority; twice as low it would starve beside it."""
    twice = "import os; from core.confinement.limits import lower_priority as lower; lower(); lower()"
    told = subprocess.run(
        [sys.executable, "-c", f"{twice}; print(os.getpriority(os.PRIO_PROCESS, 0))"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    assert int(told.stdout) == max(NICENESS, os.getpriority(os.PRIO_PROCESS, 0))
