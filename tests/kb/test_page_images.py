"""Drawing pages is bounded: few at once, in turn, nothing hopeless twice, and few images are kept."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from core.errors import NotFound, Overloaded, Timeout
from core.fair_slots import FairSlots
from kb.deletion import delete_document
from kb.documents import page_cache as cache_of
from kb.housekeeping import tidy_caches
from kb.models import Document
from kb.page_images import cache as page_cache
from kb.page_images import rendering
from kb.page_images.rendering import page_png
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document, pdf_of, stored_document, stored_file
from tests.testing.paths import SAMPLES
from tests.testing.stored import make_old, name_of

MANY = 12


def slow_pdf() -> bytes:
    """Return a small PDF of one page that takes minutes to draw: shaded by a function again and again."""
    function = b"{ " + b"dup 360 mul sin abs 0.5 mul add 2 div " * 40 + b"}"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R"
        b" /Resources << /Shading << /S 5 0 R >> >> >>",
        _stream(b"/S sh " * 5000),
        b"<< /ShadingType 1 /ColorSpace /DeviceGray /Matrix [600 0 0 800 0 0] /Function 6 0 R >>",
        _stream(function, b"/FunctionType 4 /Domain [0 1 0 1] /Range [0 1]"),
    ]
    pdf, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(pdf))
        pdf += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(pdf))
    return pdf + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + end


def _stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (entries, len(content), content)


# --- Drawing -----------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _no_failure_of_an_earlier_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "_failures", rendering._Failures())


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    (tmp_path / "slow.pdf").write_bytes(slow_pdf())
    return tmp_path / "slow.pdf"


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What is drawn: how many children ran when each started, itself included; none draws longer than 1 s."""
    started: list[int] = []
    running: set[int] = set()
    run = rendering._exit_status
    monkeypatch.setattr(rendering, "TIMEOUT_SECS", 1.0)

    def counted(command: Sequence[str], output: int) -> int:
        number = len(started)
        running.add(number)
        started.append(len(running))
        try:
            return run(command, output)
        finally:
            running.discard(number)

    monkeypatch.setattr(rendering, "_exit_status", counted)
    return started


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """Call all at once; return what each returned or raised."""

    def outcome(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Exception as error:  # noqa: BLE001 - it is looked at by the test
            return error

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(outcome, calls))


def test_a_hopeless_page_is_tried_once_for_many_widths(slow: Path, children: list[int]) -> None:
    """Page drawing without a limit: twelve requests for a slow page at 3989 to 4000 pixels took all cores."""

    file = stored_file(slow)

    def ask(width: int) -> Callable[[], Any]:
        return lambda: page_png(file, slow.parent / "pages", 1, width, asker="viewer")

    outcomes = at_once([ask(4000 - number) for number in range(MANY)])
    assert all(isinstance(outcome, Timeout) for outcome in outcomes), outcomes
    assert len(children) == 1
    # Nor is it tried again soon, or larger; smaller it may go.
    with pytest.raises(Timeout):
        page_png(file, slow.parent / "pages", 1, 3300)
    assert len(children) == 1
    with pytest.raises(Timeout):
        page_png(file, slow.parent / "pages", 1, 100)
    assert len(children) == 2
    # Another file at the same place is another matter.
    slow.write_bytes(pdf_of("Words."))
    assert page_png(file, slow.parent / "pages", 1, 3300)


def test_few_are_drawn_at_once_and_equal_requests_share_one(tmp_path: Path, children: list[int]) -> None:
    """Each request used to start a process of its own, also where all asked for the same image."""
    file = stored_file(SAMPLES / "report.pdf")
    calls: list[Callable[[], Any]] = [lambda: page_png(file, tmp_path, 1, 300, asker=object())] * MANY
    assert set(at_once(calls)) == {(tmp_path / "1-300.png").read_bytes()}
    assert len(children) == 1
    others = [
        lambda width=width: page_png(file, tmp_path, 1, width, asker=width) for width in range(301, 305)
    ]
    assert len(set(at_once(list(others)))) == len(others)
    assert max(children) <= max(1, (os.cpu_count() or 1) - 1)


def test_what_the_child_writes_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, children: list[int]
) -> None:
    """Output and error streams used to be collected in memory, whatever their size."""
    endless = (
        "import os, sys\nwhile True: os.write(2, b'x' * 65536) and sys.stdout.buffer.write(b'y' * 65536)"
    )
    program = (
        f"import kb.page_images.drawing as d; d.MAX_PNG_BYTES = 2**20; "
        f"d.draw = lambda *_: exec({endless!r}); d._main('', '1', '1')"
    )
    run = rendering._exit_status
    monkeypatch.setattr(
        rendering, "_exit_status", lambda command, output: run([command[0], "-c", program], output)
    )
    with pytest.raises(Exception, match=r"can't be drawn|too long"):
        page_png(stored_file(SAMPLES / "report.pdf"), tmp_path / "pages", 1, 300)
    assert list((tmp_path / "pages").iterdir()) == []


class TestTurns:
    """`FairSlots` alone, with threads that hold a slot until they are told."""

    @pytest.fixture
    def slots(self) -> FairSlots:
        return FairSlots(1, per_user=1, most_waiting=3)

    def test_users_take_turns(self, slots: FairSlots) -> None:
        """One user's many requests delay another's by those that run already, and no more."""
        order: list[str] = []

        def work(user: str) -> None:
            with slots.slot(user, 30):
                order.append(user)

        threads = []
        with slots.slot("many", 30):
            for user in ("many", "many", "many", "other", "third"):
                threads.append(threading.Thread(target=work, args=(user,)))
                threads[-1].start()
                while sum(map(len, slots._waiting.values())) < len(threads):
                    time.sleep(0.001)
        for thread in threads:
            thread.join()
        assert order[:3] == ["many", "other", "third"] or set(order[:3]) == {"many", "other", "third"}

    def test_who_waits_too_long_or_in_too_long_a_line_is_sent_away(self, slots: FairSlots) -> None:
        with slots.slot("a", 1):
            with pytest.raises(Overloaded), slots.slot("b", 0.01):
                pass
            waiting = [threading.Thread(target=lambda: self._briefly(slots)) for _ in range(3)]
            for thread in waiting:
                thread.start()
            while not slots._waiting or len(slots._waiting["c"]) < 3:
                time.sleep(0.001)
            begun = time.monotonic()
            with pytest.raises(Overloaded), slots.slot("c", 30):
                pass
            assert time.monotonic() - begun < 20
        for thread in waiting:
            thread.join()
        with slots.slot("b", 1):
            pass

    @staticmethod
    def _briefly(slots: FairSlots) -> None:
        with slots.slot("c", 30):
            pass


# --- Over HTTP ---------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_no_connection_is_held_while_a_page_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve slow pages held all connections of the pool: the thirteenth request got a 500."""
    cast = make_cast()
    document = indexed_document(cast.team)
    held: list[Any] = []
    run = rendering._exit_status

    def watched(command: Sequence[str], output: int) -> int:
        held.append(connection.connection)
        return run(command, output)

    monkeypatch.setattr(rendering, "_exit_status", watched)
    response = Client().get(f"/api/v1/documents/{document.pk}/pages/1?width=90", headers=cast.headers("bob"))
    assert (response.status_code, held) == (200, [None])


def test_who_cannot_wait_longer_gets_503(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crowd is told to come back later, not kept waiting without end."""
    document = indexed_document(cast.team)
    monkeypatch.setattr(rendering, "_slots", FairSlots(0, per_user=1, most_waiting=1))
    monkeypatch.setattr(rendering, "PATIENCE_SECS", 0.05)
    response = Client().get(f"/api/v1/documents/{document.pk}/pages/1", headers=cast.headers("bob"))
    assert (response.status_code, response.json()["error"]["code"]) == (503, "overloaded")
    assert int(response["Retry-After"]) > 0


# --- What is kept ------------------------------------------------------------------------------------------


@pytest.fixture
def images(settings: Any, tmp_path: Path) -> Iterator[Path]:
    """The folder of all page images, somewhere else for the length of a test."""
    settings.DATA_DIR = tmp_path
    yield tmp_path / "cache" / "pages"


def put(path: Path, size: int, age_secs: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, (time.time() - age_secs,) * 2)
    return path


def test_few_widths_of_a_page_are_kept(cast: Cast, images: Path) -> None:
    """Forty widths used to leave forty files, of each page up to 4000."""
    document = indexed_document(cast.team)
    for width in range(20, 32):
        response = Client().get(
            f"/api/v1/documents/{document.pk}/pages/1?width={width}", headers=cast.headers("bob")
        )
        assert response.status_code == 200
        if width % 5 == 0:
            [size] = [int.from_bytes(response.content[16:20], "big")]
            assert size == width
    assert len(list(cache_of(document).iterdir())) <= page_cache.WIDTHS_KEPT
    assert (cache_of(document) / "1-31.png").exists()


def test_the_least_used_images_go_when_there_are_too_many(images: Path, settings: Any) -> None:
    """The cache used to grow without bound."""
    settings.PAGE_CACHE_BYTES = 10_000
    paths = [put(images / f"d{n}" / "1-100.png", 1000, age_secs=n * 1000) for n in range(12)]
    assert page_cache.use(paths[11])  # the oldest is used again
    page_cache.sweep()
    assert sum(path.stat().st_size for path in images.rglob("*.png")) <= 10_000
    assert paths[11].exists() and paths[0].exists() and not paths[10].exists()


def test_storing_keeps_the_limit_by_itself(images: Path, settings: Any, tmp_path: Path) -> None:
    settings.PAGE_CACHE_BYTES = 30_000
    for page in (1, 2, 3, 4):
        for width in (300, 400):
            page_png(stored_file(SAMPLES / "report.pdf"), images / "document", page, width)
    assert sum(path.stat().st_size for path in images.rglob("*.png")) <= 60_000


@pytest.mark.django_db
def test_at_night_go_old_images_forgotten_drafts_and_folders_without_a_document(
    images: Path, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders that a drawing had left behind after a deletion were never removed."""
    document = indexed_document(cast.team)
    mine = cache_of(document)
    young, old = put(mine / "1-100.png", 10, 60), put(mine / "1-200.png", 10, 8 * 86400)
    draft, lost = put(mine / "1-300.tmp", 10, 7200), put(mine / "1-400.tmp", 10, 60)
    gone = put(images / "00000000-0000-4000-8000-000000000000" / "1-100.png", 10, 60)
    make_old(monkeypatch, name_of(document), timedelta(days=9))
    tidy_caches(0)
    assert (young.exists(), old.exists(), draft.exists(), lost.exists()) == (True, False, False, True)
    assert not gone.parent.exists()


# --- Deletion ----------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("moment", ["while it is drawn", "before the rename"])
def test_a_page_that_is_drawn_while_its_document_is_deleted_leaves_nothing(
    moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The image used to be written afterwards, into a new folder that nothing ever removed."""
    cast = make_cast()
    document = stored_document(
        cast.team, "slow.pdf", pdf_of("Words."), file_type="pdf", mime_type="application/pdf", page_count=1
    )
    folder = cache_of(document)
    run = rendering._exit_status

    def deleting(command: Sequence[str], output: int) -> int:
        if moment == "while it is drawn":
            delete_document(Document.unscoped.get(pk=document.pk))
            return run(command, output)
        done = run(command, output)
        delete_document(Document.unscoped.get(pk=document.pk))
        return done

    monkeypatch.setattr(rendering, "_exit_status", deleting)
    response = Client().get(f"/api/v1/documents/{document.pk}/pages/1", headers=cast.headers("bob"))
    assert response.status_code == 404
    assert not folder.exists()


def test_a_file_that_is_gone_has_no_pages(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        page_png(stored_file(tmp_path / "nothing.pdf"), tmp_path / "pages", 1, 100)
