"""Traps are refused before they are parsed; real files, broken ones among them, end as they should."""

from __future__ import annotations

import io
import json
import random
import re
import unicodedata
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from core.errors import DocumentError
from extract import archives
from extract.base import Element, Opened, Request, UnitRead
from extract.errors import Corrupted, Encrypted, FileTooLarge
from extract.sandbox.parent import SandboxLimits, extract
from tests.extract.reading import REQUEST, read_bytes, simply, zipped
from tests.extract.test_kinds import PYTHON
from tests.extract.test_markup import CONTAINER, NOTES, PACKAGE, PAGE
from tests.extract.test_office import report, saved, slides, workbook
from tests.testing.paths import SHARED_DATA

BILLION_LAUGHS = (
    '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]><a>&c;</a>'
)
OTHER_FILE = '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><a>&a;</a>'
MAIN_MEMBER = {"docx": "word/document.xml", "pptx": "ppt/presentation.xml", "xlsx": "xl/workbook.xml"}


def package(kind: str, **members: bytes | str) -> dict[str, bytes | str]:
    """Return members that make a zip recognised as a kind."""
    if kind == "epub":
        container = CONTAINER.format('<rootfile full-path="in/book.opf"/>')
        return {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "in/book.opf": PACKAGE,
            **members,
        }
    if kind in ("odt", "ods"):
        name = {"odt": "text", "ods": "spreadsheet"}[kind]
        return {"mimetype": f"application/vnd.oasis.opendocument.{name}", **members}
    return {"[Content_Types].xml": "<Types/>", MAIN_MEMBER[kind]: "<a/>", **members}


KINDS = ("docx", "pptx", "xlsx", "odt", "ods", "epub")


# --- Zip files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("request_", [REQUEST, simply()], ids=["usual", "simple"])
def test_bombs_are_not_unpacked(tmp_path: Path, kind: str, request_: Request) -> None:
    bomb = zipped(package(kind, **{"media/picture.bin": bytes(12 * 2**20)}))
    assert len(bomb) < 100_000
    with pytest.raises(FileTooLarge, match="trap"):
        read_bytes(tmp_path, bomb, request_)


def test_bombs_of_many_small_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_MEMBERS", 50)
    with pytest.raises(FileTooLarge, match="trap"):
        read_bytes(tmp_path, zipped(package("docx", **{f"media/{n}": b"" for n in range(60)})))


def test_bombs_under_every_ratio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_TOTAL_BYTES", 1000)
    parts = {f"media/{n}": bytes(range(100)) for n in range(11)}
    with pytest.raises(FileTooLarge, match="trap"):
        read_bytes(tmp_path, zipped(package("docx", **parts), zipfile.ZIP_STORED))


def test_bombs_whose_parts_share_their_bytes(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in package("docx", **{"media/a": bytes(1000)}).items():
            archive.writestr(name, content)
        shared = archive.getinfo("media/a")
        for n in range(20):
            again = zipfile.ZipInfo(f"media/{n}")
            for name in ("header_offset", "compress_size", "file_size", "CRC", "compress_type"):
                setattr(again, name, getattr(shared, name))
            archive.filelist.append(again)
    with pytest.raises(FileTooLarge, match="trap"):
        read_bytes(tmp_path, buffer.getvalue())


@pytest.mark.parametrize("name", ["../../etc/cron.d/x", "/etc/passwd", "word\\..\\..\\x", "C:\\x"])
@pytest.mark.parametrize("kind", KINDS)
def test_names_that_lead_out_of_the_archive(tmp_path: Path, kind: str, name: str) -> None:
    with pytest.raises(Corrupted, match="names that lead out"):
        read_bytes(tmp_path, zipped(package(kind, **{name: "x"})))


def test_locked_archives(tmp_path: Path) -> None:
    content = bytearray(zipped(package("docx")))
    at = content.find(b"PK\x01\x02")
    content[at + 8] |= 1  # the flag in the table of contents that says that a member needs a password
    with pytest.raises(Encrypted):
        read_bytes(tmp_path, bytes(content))


@pytest.mark.parametrize("kind", KINDS)
def test_archives_cut_short(tmp_path: Path, kind: str) -> None:
    content = zipped(package(kind))
    with pytest.raises(Corrupted):
        read_bytes(tmp_path, content[: len(content) * 2 // 3])


def test_archives_with_damaged_contents(tmp_path: Path) -> None:
    content = bytearray(zipped(package("epub", **{"in/long.xhtml": "granite " * 100}), zipfile.ZIP_STORED))
    at = content.find(b"granite")
    content[at : at + 4] = b"\0\0\0\0"
    with pytest.raises(Corrupted):
        read_bytes(tmp_path, bytes(content))


def test_archives_that_point_outside_themselves(tmp_path: Path) -> None:
    content = zipped(package("docx"))
    with pytest.raises(Corrupted, match="cut off"):
        read_bytes(tmp_path, content[:4] + content[40:])


# --- Damage at random --------------------------------------------------------------------------------------


def damaged(content: bytes, dice: random.Random) -> bytes:
    """Return bytes of which some are changed, lost or doubled."""
    broken = bytearray(content)
    for _ in range(dice.choice([1, 5, 25])):
        if not broken:
            break
        at = dice.randrange(len(broken))
        match dice.randrange(3):
            case 0:
                broken[at] = dice.randrange(256)
            case 1:
                del broken[at : at + dice.randrange(30)]
            case 2:
                broken[at:at] = broken[at : at + dice.randrange(90)]
    return bytes(broken)


def damaged_inside(content: bytes, dice: random.Random) -> bytes:
    """Return a zip in one member of which attributes have one another's values."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members: dict[str, bytes | str] = {name: archive.read(name) for name in archive.namelist()}
    name = dice.choice([name for name in members if archives.is_xml(name)])
    text = str(members[name], "utf-8") if isinstance(members[name], bytes) else members[name]
    values = re.findall(r'"[^"]*"', text)
    for _ in range(dice.choice([1, 4])):
        other = dice.choice([*values, '""', '"-1"', '"99999999999"'])
        text = text.replace(dice.choice(values or ["x"]), other, dice.choice([1, 99]))
    return zipped({**members, name: text})


@pytest.mark.parametrize("make", [report, slides, workbook], ids=["docx", "pptx", "xlsx"])
@pytest.mark.parametrize("damage", [damaged, damaged_inside])
def test_damaged_office_files_are_read_or_refused(
    tmp_path: Path, make: Callable[[], Any], damage: Callable[[bytes, random.Random], bytes]
) -> None:
    content, dice = saved(make()), random.Random(1)
    for _ in range(25):
        with suppress(DocumentError):
            read_bytes(tmp_path, damage(content, dice))


TEXTS = {
    "html": PAGE,
    "md": NOTES,
    "xml": BILLION_LAUGHS,
    "code": PYTHON,
    "json": '{"a": [1, "b"]}',
    "csv": "a,b\n1,2\n" * 9,
}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_damaged_texts_are_read_or_refused(tmp_path: Path, kind: str, encoding: str) -> None:
    content, dice = TEXTS[kind].encode(encoding), random.Random(1)
    for _ in range(40):
        with suppress(DocumentError):
            read_bytes(tmp_path, damaged(content, dice))


# --- Entities ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("xml", [BILLION_LAUGHS, OTHER_FILE])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_in_archives(tmp_path: Path, kind: str, xml: str, encoding: str) -> None:
    trap = package(kind, **{"custom/item.xml": f"<!--{'-' * 5}{xml}".encode(encoding)})
    with pytest.raises(Corrupted, match="entities"):
        read_bytes(tmp_path, zipped(trap))


def test_entities_across_blocks_of_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "READ_AT_ONCE", 7)
    with pytest.raises(Corrupted, match="entities"):
        read_bytes(tmp_path, zipped(package("docx", **{"custom/item.xml": OTHER_FILE})))


@pytest.mark.parametrize("xml", [BILLION_LAUGHS, OTHER_FILE])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_in_xml(tmp_path: Path, xml: str, encoding: str) -> None:
    with pytest.raises(Corrupted, match="entities"):
        read_bytes(tmp_path, f'<?xml version="1.0"?>{xml}'.encode(encoding))


def test_entities_in_html_mean_nothing(tmp_path: Path) -> None:
    declared = '<!DOCTYPE html [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    found = read_bytes(tmp_path, f"{declared}<html><p>&a; brass</p></html>")
    assert "brass" in found.text
    assert "root:" not in found.text


# --- Real files --------------------------------------------------------------------------------------------

LIMITS = SandboxLimits(timeout_secs=120, memory_bytes=2 * 2**30, max_pages=2000)
# Where the product decides otherwise than the collection expects.
DECIDED = {
    "pypdf/r6-user-password.pdf": "encrypted",  # opens with its password only
}


def expectations() -> list[Any]:
    listed = SHARED_DATA / "robustness" / "expectations.jsonl"
    if not listed.exists():
        return [pytest.param({}, marks=pytest.mark.skip(reason="the real documents are not here"))]
    lines = listed.read_text().splitlines()
    return [pytest.param(json.loads(line), id=json.loads(line)["file"]) for line in lines]


def folded(text: str) -> str:
    """Return text without its white space, case, and kinds of quotes and dashes."""
    text = unicodedata.normalize("NFKC", text).casefold()
    for kinds, plain in (("‘’‚`´′", "'"), ("“”„«»″", '"'), ("‐‑‒–—−", "-")):
        text = re.sub(f"[{kinds}]", plain, text)
    return re.sub(r"\s+", "", text)


def outcome(path: Path) -> tuple[str, str]:
    """Return the error code, or "read", and all text."""
    try:
        findings = list(extract(path, LIMITS))
    except DocumentError as error:
        return error.code, ""
    assert isinstance(findings[0], Opened)
    assert any(isinstance(finding, UnitRead) for finding in findings)
    return "read", " ".join(finding.text for finding in findings if isinstance(finding, Element))


@pytest.mark.parametrize("expected", expectations())
@pytest.mark.slow("corpora")
def test_real_files_end_as_expected(expected: dict[str, Any]) -> None:
    code, text = outcome(SHARED_DATA / "robustness" / expected["file"])
    assert code not in ("internal", "timeout", "out_of_memory")
    if expected["file"] in DECIDED:
        assert code == DECIDED[expected["file"]]
        return
    match expected["expect"]:
        case "password":
            assert code == "encrypted"
        case "reject":
            assert code != "read"
        case "text" | "image" | "little_text":
            assert code == "read"
    if expected["expect"] == "text":
        missing = [phrase for phrase in expected["phrases"] if folded(phrase) not in folded(text)]
        assert missing == []
        assert folded(text)
