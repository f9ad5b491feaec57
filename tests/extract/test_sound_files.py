"""Files that look broken or foreign, and are sound."""

from __future__ import annotations

import json
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from extract.base import Kind, TextOrigin
from extract.errors import Corrupted, Encrypted
from extract.pdf.page import needs_recognition
from extract.places import element
from tests.extract.reading import REQUEST, read, read_bytes

CHINESE = "燈塔建於一八七一年，由灰色花崗岩砌成。"


# --- Encodings ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["windows-950", "x-big5", "cp-950"])
def test_mail_in_a_code_page_that_python_names_otherwise(tmp_path: Path, name: str) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@example.org", "b@example.org", "placeholder"
    mail.set_content("body", charset="utf-8", cte="8bit")
    raw = mail.as_bytes().replace(b'charset="utf-8"', f'charset="{name}"'.encode())
    raw = raw.replace(b"body", CHINESE.encode("cp950"))
    encoded = "".join(f"={byte:02X}" for byte in CHINESE[:4].encode("cp950"))
    raw = raw.replace(b"placeholder", f"=?{name}?Q?{encoded}?=".encode())
    found = read_bytes(tmp_path, raw)
    assert CHINESE in found.text
    assert found.opened.title == CHINESE[:4]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark(tmp_path: Path, encoding: str) -> None:
    text = "The lamp burned whale oil.\nIt was seen from nineteen miles away."
    assert "nineteen miles" in read_bytes(tmp_path, text.encode(encoding)).text


# --- JSON --------------------------------------------------------------------------------------------------


def test_json_that_is_cut_off_is_text_unless_it_is_called_json(tmp_path: Path) -> None:
    cut = json.dumps([{"name": "Ann", "age": 31}, {"name": "Bo", "lamp": "brass"}])[:-8]
    found = read_bytes(tmp_path, cut, replace(REQUEST, promised="txt"))
    assert (found.opened.file_type, "brass" in found.text or "Bo" in found.text) == ("txt", True)
    with pytest.raises(Corrupted):
        read_bytes(tmp_path, cut, replace(REQUEST, promised="json"))


# --- PDF ---------------------------------------------------------------------------------------------------


def locked_attachment(streams: bytes) -> bytes:
    """Return a page with text in a PDF that has a password for its attachments, and perhaps for streams."""
    content = b"BT /F1 24 Tf 72 700 Td (The Tower) Tj ET"
    encryption = (
        b"<</Filter/Standard/V 4/R 4/Length 128/P -4/CF<</StdCF<</CFM/AESV2/AuthEvent/EFOpen/Length 16>>>>"
        b"/EFF/StdCF/StmF/%s/StrF/%s/O<%s>/U<%s>>>" % (streams, streams, b"41" * 32, b"42" * 32)
    )
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        encryption,
    ]
    pdf, offsets = b"%PDF-1.6\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(pdf))
        pdf += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    rows = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    table = b"xref\n0 7\n0000000000 65535 f \n" + rows
    trailer = b"trailer<</Size 7/Root 1 0 R/Encrypt 6 0 R/ID[<31><31>]>>\nstartxref\n%d\n%%%%EOF\n" % len(pdf)
    return pdf + table + trailer


def test_a_password_for_attachments_alone_locks_no_page(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, locked_attachment(b"Identity")).text == "The Tower"
    with pytest.raises(Encrypted):
        read_bytes(tmp_path, locked_attachment(b"StdCF"))


def drawn(tmp_path: Path, side: float, text: str = "") -> Path:
    """Store a page with a picture of a side in points, and text."""
    picture = tmp_path / "dot.png"
    Image.new("RGB", (200, 200), "navy").save(picture)
    pdf = pymupdf.open()
    page = pdf.new_page(width=595, height=842)
    page.insert_image(pymupdf.Rect(72, 72, 72 + side, 72 + side), filename=picture)
    page.insert_text((72, 400), text)
    path = tmp_path / "drawn.pdf"
    pdf.save(path)
    return path


@pytest.mark.parametrize(
    ("side", "text", "source"),
    [
        (60, "", TextOrigin.PENDING),
        (3, "", TextOrigin.BLANK),
        (60, "A page of text with a logo on top.", TextOrigin.TEXT),
    ],
)
def test_a_small_picture_alone_on_its_page_is_recognised(
    tmp_path: Path, side: float, text: str, source: TextOrigin
) -> None:
    assert read(drawn(tmp_path, side, text)).units[0].source is source


def test_a_few_glyphs_without_characters_are_recognised() -> None:
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        assert needs_recognition(page, [element(Kind.PARAGRAPH, "\ue001\ue002\ue003 \ue004")], [])
        assert not needs_recognition(page, [element(Kind.PARAGRAPH, "Page 3 of 12 with words enough")], [])
