"""Kinds of file of former times, and those of programs that keep several things in one file."""

from __future__ import annotations

import quopri
import struct
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path
from types import SimpleNamespace

import pytest
from doc2docx.cfb import writer
from doc2docx.cfb.directory import ObjectType
from PIL import Image

from extract.base import Element, Kind, TextOrigin
from extract.errors import Corrupted, Encrypted, NoText, TooManyPages, UnsupportedType
from extract.kinds import is_misnamed
from extract.registry import sniff
from extract.sandbox.child import SandboxLimits
from extract.sandbox.parent import extract as extract_confined
from tests.extract.reading import REQUEST, read, read_bytes, zipped

# --- Word and PowerPoint before 2007 -----------------------------------------------------------------------


def test_word_before_2007_within_the_confinement(shared_data: Path) -> None:
    path = shared_data / "robustness" / "unstructured" / "simple.doc"
    limits = SandboxLimits(60, 4 * 2**30, 100)
    elements = [one for one in extract_confined(path, limits) if isinstance(one, Element)]
    assert (elements[0].kind, elements[0].text) == (Kind.HEADING, "These are a few of my favorite things:")
    assert "This is my third thought." in [element.text for element in elements]


def test_a_damaged_word_file_is_refused(shared_data: Path, tmp_path: Path) -> None:
    content = (shared_data / "robustness" / "unstructured" / "simple.doc").read_bytes()
    for length in (600, 5000, 9000, 12_000):
        with pytest.raises((Corrupted, UnsupportedType)):
            read_bytes(tmp_path, content[:length])


def record(kind: int, content: bytes = b"", instance: int = 0, *, holds: bool = False) -> bytes:
    return struct.pack("<HHI", instance << 4 | (0xF if holds else 0), kind, len(content)) + content


def text_of(kind: int, text: str) -> bytes:
    return record(0x0F9F, struct.pack("<I", kind)) + record(0x0FA0, text.encode("utf-16-le"))


def presentation(token: int = 0xE391C05F) -> bytes:
    """Return a presentation of two slides: a title with a list and a box, and one with notes."""
    box = record(0xF00D, text_of(4, "in a box"), holds=True)
    outlined = record(0xF00D, record(0x0F9E, struct.pack("<I", 0)), holds=True)
    drawing = record(0x040C, record(0xF002, box + outlined, holds=True), holds=True)
    atom = record(0x03EF, struct.pack("<IQIIHH", 0, 0, 0, 0, 0, 0))
    noted = record(0x03EF, struct.pack("<IQIIHH", 0, 0, 0, 300, 0, 0))
    note = record(0x040C, record(0xF00D, text_of(2, "Speak slowly."), holds=True), holds=True)
    slides = (
        record(0x03F3, struct.pack("<IIiII", 2, 0, 2, 256, 0))
        + text_of(0, "The\vTower")
        + text_of(1, "granite\rglass")
        + record(0x03F3, struct.pack("<IIiII", 3, 0, 0, 257, 0))
        + text_of(6, "Keepers")
    )
    notes = record(0x03F3, struct.pack("<IIiII", 4, 0, 0, 300, 0))
    lists = record(0x0FF0, slides, 0, holds=True) + record(0x0FF0, notes, 2, holds=True)
    objects = [
        record(0x03E8, lists, holds=True),
        record(0x03EE, atom + drawing, holds=True),
        record(0x03EE, noted, holds=True),
        record(0x03F0, note, holds=True),
    ]
    data, places = b"", []
    for one in objects:
        places.append(len(data))
        data += one
    directory = len(data)
    data += record(0x1772, struct.pack("<I4I", 1 | 4 << 20, *places))
    edit = len(data)
    data += record(0x0FF5, struct.pack("<IIIIIII", 0, 0, 0, directory, 1, 5, 0))
    user = struct.pack("<HHIIII", 0, 0x0FF6, 20, 20, token, edit)
    return compound({"Current User": user, "PowerPoint Document": data})


def compound(streams: dict[str, bytes]) -> bytes:
    """Return a file of Microsoft's format that holds other files."""
    kinds = (ObjectType.ROOT_STORAGE, ObjectType.STREAM)
    root, stream = (
        SimpleNamespace(object_type=kind, clsid=bytes(16), state_bits=0, creation_time=0, modified_time=0)
        for kind in kinds
    )
    entries = tuple((name, stream, content) for name, content in streams.items())
    return bytes(writer.write_compound_storage(root, entries))


def test_powerpoint_before_2007(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, presentation())
    assert (found.opened.file_type, found.opened.units, found.opened.page_count) == ("ppt", 2, 2)
    assert found.kinds() == [
        ("heading", "The Tower"),
        ("list_item", "granite"),
        ("list_item", "glass"),
        ("paragraph", "in a box"),
        ("heading", "Keepers"),
        ("paragraph", "Speak slowly."),
    ]
    assert [place.slide for place in found.places()] == [1, 1, 1, 1, 2, 2]


def test_a_presentation_with_a_password_or_damage(tmp_path: Path) -> None:
    with pytest.raises(Encrypted):
        read_bytes(tmp_path, presentation(token=0xF3D1C4DF))
    whole = presentation()
    for length in (600, 1100, 1600):
        with pytest.raises((Corrupted, UnsupportedType)):
            read_bytes(tmp_path, whole[:length])


def test_a_real_presentation(shared_data: Path) -> None:
    found = read(shared_data / "robustness" / "tika" / "testPPT.ppt")
    assert found.headings() == [(1, "Sample Powerpoint Slide")]
    assert "Service Release 1" in found.text


# --- Saved web pages ---------------------------------------------------------------------------------------

PAGE = "<html><title>Lamps</title><body><h1>Lamps</h1><p>Öl brennt &amp; leuchtet.</p></body></html>"


def saved_page(headers: bytes) -> bytes:
    page = quopri.encodestring(PAGE.encode())
    return (
        headers
        + b'MIME-Version: 1.0\nContent-Type: multipart/related; type="text/html"; boundary="b"\n\n'
        + b"--b\nContent-Type: text/css\nContent-Location: a.css\n\nbody { colour: red }\n"
        + b"--b\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n"
        + b"Content-Location: https://example.org/\n\n"
        + page
        + b"\n--b\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=\n--b--\n"
    )


@pytest.mark.parametrize(
    "headers",
    [
        b"From: <Saved by Blink>\nSnapshot-Content-Location: https://example.org/\nSubject: L\nDate: x\n",
        b"",
    ],
)
def test_a_saved_page_is_the_page_alone(tmp_path: Path, headers: bytes) -> None:
    found = read_bytes(tmp_path, saved_page(headers))
    assert (found.opened.file_type, found.opened.title) == ("mhtml", "Lamps")
    assert found.kinds() == [("heading", "Lamps"), ("paragraph", "Öl brennt & leuchtet.")]
    assert not is_misnamed("page.mht", "mhtml")


def test_a_saved_page_without_a_page(tmp_path: Path) -> None:
    content = saved_page(b"").replace(b"text/html; charset", b"text/css; charset")
    with pytest.raises(NoText, match="web page"):
        read_bytes(tmp_path, content)


def test_a_letter_with_pictures_is_no_saved_page(tmp_path: Path) -> None:
    headers = b"From: a@example.org\nTo: b@example.org\nDate: x\nSubject: s\n"
    assert read_bytes(tmp_path, saved_page(headers)).opened.file_type == "eml"


# --- Mailboxes ---------------------------------------------------------------------------------------------


def letter(subject: str, body: str, attachment: str = "") -> bytes:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "ann@example.org", "bo@example.org", subject
    mail["Date"] = "Tue, 24 Nov 2026 10:00:00 +0000"
    mail.set_content(body)
    if attachment:
        mail.add_attachment(b"1,2", maintype="text", subtype="csv", filename=attachment)
    return b"From ann@example.org Tue Nov 24 10:00:00 2026\n" + mail.as_bytes() + b"\n\n"


def test_each_letter_of_a_mailbox_is_read(tmp_path: Path) -> None:
    content = letter("Oil", "First.\n\n>From the island it came.", "a.csv") + letter(
        "Wicks", "Second.", "b.csv"
    )
    (tmp_path / "out").mkdir()
    found = read_bytes(tmp_path, content, replace(REQUEST, attachments=tmp_path / "out"))
    assert (found.opened.file_type, found.opened.units) == ("mbox", 2)
    assert found.headings() == [(1, "Oil"), (1, "Wicks")]
    assert "From the island it came." in found.texts(Kind.PARAGRAPH)
    assert [(one.name, one.stored) for one in found.attached] == [
        ("a.csv", "attachment-1-1"),
        ("b.csv", "attachment-2-1"),
    ]
    alone = read_bytes(tmp_path, content, replace(REQUEST, units=(2,)))
    assert alone.headings() == [(1, "Wicks")]
    assert [warning.code for warning in alone.warnings] == ["attachments_left_out"]


def test_a_mailbox_has_limits(tmp_path: Path) -> None:
    with pytest.raises(TooManyPages, match="101 letters"):
        read_bytes(tmp_path, letter("Oil", "Again.") * 101)


def test_a_letter_that_can_not_be_read_costs_only_itself(tmp_path: Path) -> None:
    deep = b"From x\nFrom: a@example.org\nTo: b@example.org\nSubject: x\n"
    deep += b"Content-Type: message/rfc822\n\n" * 40 + b"\n\n"
    found = read_bytes(tmp_path, letter("Oil", "First.") + deep + letter("Wicks", "Last."))
    assert [unit.source for unit in found.units] == [TextOrigin.TEXT, TextOrigin.UNREADABLE, TextOrigin.TEXT]


# --- Others ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["picture.jp2", "picture.j2k"])
def test_jpeg_2000(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    Image.new("RGB", (60, 40), "navy").save(path)
    found = read(path)
    assert (found.opened.file_type, found.opened.page_count) == ("jp2", 1)


@pytest.mark.parametrize("member", ["Index/Document.iwa", "index.apxl", "Index.zip"])
def test_files_of_apple_get_their_own_advice(tmp_path: Path, member: str) -> None:
    path = tmp_path / "report.pages"
    path.write_bytes(zipped({member: b"x", "preview.jpg": b"x"}))
    with pytest.raises(UnsupportedType, match="Export it there as PDF"):
        sniff(path)
