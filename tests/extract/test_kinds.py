"""Kinds are told by content: every one has its marks. The name tells plain texts apart, and nothing else."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from extract.errors import Corrupted, Empty, Encrypted, UnsupportedType
from extract.kinds import KINDS, FileModality, is_misnamed, promised_type
from extract.registry import sniff
from tests.extract.reading import stored, zipped
from tests.testing.paths import SAMPLES

PROSE = (
    "The lighthouse on Gull Island was built in 1871, of grey granite, and burned whale oil at first.\n" * 3
)
TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
PYTHON = '''"""A module about lamps, whose docstring is a sentence or two. It lights them."""

import os


def light(lamp: str, *, oil: float = 1.0) -> bool:
    # Whale oil burns longer.
    for wick in os.listdir(lamp):
        print(wick, oil)
    return True
'''


def ooxml(folder: str) -> bytes:
    return zipped({"[Content_Types].xml": TYPES, f"{folder}document.xml": "<a/>"})


def declared(mime_type: str) -> bytes:
    return zipped({"mimetype": mime_type, "content.xml": "<a/>"})


TEXTS = {
    "plain prose": (PROSE, "txt"),
    "a list": ("Shopping\n\n- bread\n- butter, salted\n", "txt"),
    "a letter": ("Dear Ann,\n\nplease, if you can, come soon.\nYours, Bob\n", "txt"),
    "markdown": (f"# Gull Island\n\n{PROSE}", "md"),
    "markdown without a heading": (
        f"See [the **tower**](http://x.org) and:\n\n```\nls\n```\n\n{PROSE}",
        "md",
    ),
    "python": (PYTHON, "code"),
    "c": ('#include <stdio.h>\n\nint main(void) {\n    printf("hi");\n    return 0;\n}\n', "code"),
    "javascript": ("import { a } from 'b';\nexport const c = (d) => {\n  return d + 1;\n};\n", "code"),
    "sql": ("SELECT name\nFROM keepers\nWHERE year > 1871;\nUPDATE lamps SET oil = 3;\n", "code"),
    "a script": ("#!/bin/sh\necho hello\n", "code"),
    "csv": ("name,age\nAnn,31\nBob,7\n", "csv"),
    "csv of Excel in Germany": ("Name;Größe\nAnna;1,70\nBernd;1,82\n", "csv"),
    "tsv": ("name\tage\nAnn\t31\n", "tsv"),
    "json": ('{"keepers": [{"name": "Ann"}]}', "json"),
    "json lines": ('{"a": 1}\n{"a": 2}\n', "json"),
    "brackets in prose": (f"[1] {PROSE}", "txt"),
    "a configuration": ("[lamp]\ncolour = white\nheight = 3\n", "code"),
    "html": (f"<!DOCTYPE html>\n<html><body><p>{PROSE}</body></html>", "html"),
    "xhtml": ('<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x" "y">\n<html><p>a</p></html>', "html"),
    "a piece of html": ("<div><p>Hello</p></div>", "html"),
    "xml": ('<?xml version="1.0"?>\n<island><name>Gull</name></island>', "xml"),
    "xml without a prolog": ("<island><name>Gull</name></island>", "xml"),
    "an e-mail": ("From: a@x.org\nTo: b@x.org\nSubject: Oil\n\nSend more.\n", "eml"),
    "an e-mail from a mailbox": ("From a@x.org Mon\nReceived: by x\nFrom: a\nDate: today\n\nHi\n", "eml"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_by_their_syntax(tmp_path: Path, name: str) -> None:
    text, kind = TEXTS[name]
    assert sniff(stored(tmp_path, text)) == kind


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("light.py", "# Gull Island\n\nA file of remarks and no line of code.\n", "code"),
        ("page.vue", "<template><p>Hello</p></template>", "code"),
        ("README.md", '<p align="center"><b>Gull</b></p>\n\nA tower.\n', "md"),
        ("plain.md", PROSE, "md"),
        ("quoted.html", "<q>The lamp</q> he said, <q>is lit</q>.", "html"),
        ("words.htm", "The lamp is <em>lit</em>, said the keeper.", "html"),
        ("data.xml", "<q>The lamp</q>", "xml"),
        ("plain.html", PROSE, "txt"),
        ("words.csv", "# remark,\nname,age\nAnn,31\nBob,7\n", "csv"),
        ("list.txt", "name,age\nAnn,31\nBob,7\n", "csv"),
        ("server.log", "import of oil {\nimport of wicks {\n", "txt"),
        ("text.txt", f"# Gull Island\n\n{PROSE}", "md"),
        ("report.pdf", PROSE, "txt"),
        ("photo.png", PYTHON, "code"),
        ("notes.txt", '{"a": 1}', "json"),
        ("unknown.xyz", PROSE, "txt"),
    ],
)
def test_the_name_tells_plain_texts_apart(tmp_path: Path, name: str, text: str, kind: str) -> None:
    assert sniff(stored(tmp_path, text), promised_type(name)) == kind


@pytest.mark.parametrize("name", ["notes.md", "script.py", "list.csv", "page.html", "sound.wav"])
def test_the_name_says_nothing_of_bytes_that_are_no_text(tmp_path: Path, name: str) -> None:
    promised = promised_type(name)
    assert sniff(stored(tmp_path, b"\x89PNG\r\n\x1a\n\0\0"), promised) == "png"
    with pytest.raises(UnsupportedType):
        sniff(stored(tmp_path, b"\x7fELF\2\1\1" + bytes(60)), promised)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "latin-1"])
def test_syntax_is_seen_in_other_encodings(tmp_path: Path, encoding: str) -> None:
    assert sniff(stored(tmp_path, "Name;Größe\nAnna;1,70\nBernd;1,82\n".encode(encoding))) == "csv"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (ooxml("word/"), "docx"),
        (ooxml("ppt/"), "pptx"),
        (ooxml("xl/"), "xlsx"),
        (zipped({"[Content_Types].xml": TYPES, "xl/workbook.bin": "x"}), "xlsb"),
        (declared("application/vnd.oasis.opendocument.text"), "odt"),
        (declared("application/vnd.oasis.opendocument.spreadsheet-template"), "ods"),
        (declared("application/vnd.oasis.opendocument.presentation"), "odp"),
        (declared("application/epub+zip\n"), "epub"),
        (zipped({"META-INF/container.xml": "<a/>"}), "epub"),
        (b"{\\rtf1 hello}", "rtf"),
        (b"\x89PNG\r\n\x1a\n\0\0", "png"),
        (b"\xff\xd8\xff\xe0\0\0", "jpg"),
        (b"II*\0\x08\0\0\0", "tiff"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "webp"),
        (b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0", "bmp"),
        (b"GIF89a\x01\0\x01\0", "gif"),
        (b"\0\0\0\x18ftypheic\0\0\0\0", "heic"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "wav"),
        (b"ID3\x04\0\0\0\0\0\0", "mp3"),
        (b"\xff\xfb\x90\x64\0\0", "mp3"),
        (b"\0\0\0\x18ftypM4A \0\0\0\0", "m4a"),
        (b"fLaC\0\0\0\x22", "flac"),
        (b"OggS\0\x02" + bytes(22) + b"\x01vorbis", "ogg"),
        (b"OggS\0\x02" + bytes(22) + b"OpusHead", "opus"),
        (b"\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm", "webm"),
        (b"\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\x82\x88matroska", "mkv"),
        (b"\0\0\0\x18ftypisom\0\0\0\0", "mp4"),
        (b"\0\0\0\x14ftypqt  \0\0\0\0", "mov"),
    ],
)
def test_binary_kinds_by_their_marks(tmp_path: Path, content: bytes, kind: str) -> None:
    assert sniff(stored(tmp_path, content)) == kind


@pytest.mark.parametrize(
    ("content", "error", "advice"),
    [
        (b"", Empty, "empty"),
        (bytes(range(256)), UnsupportedType, "Convert"),
        (zipped({"a.txt": "a"}), UnsupportedType, "zip archive. Unpack"),
        (b"\x1f\x8b\x08\0\0\0\0\0", UnsupportedType, "gzip archive"),
        (b"PK\x03\x04 and no more", Corrupted, "cut off"),
        (ooxml("word/")[:-30], Corrupted, "cut off"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and no more", Corrupted, "damaged"),
    ],
)
def test_what_is_refused_says_what_to_do(
    tmp_path: Path, content: bytes, error: type[Exception], advice: str
) -> None:
    with pytest.raises(error, match=advice):
        sniff(stored(tmp_path, content))


@pytest.mark.parametrize(
    ("name", "error", "advice"),
    [
        ("unstructured/password_protected.xlsx", Encrypted, "Enter it"),
    ],
)
def test_old_and_locked_office_files(
    shared_data: Path, name: str, error: type[Exception], advice: str
) -> None:
    with pytest.raises(error, match=advice):
        sniff(shared_data / "robustness" / name)


def test_text_in_a_pdf_is_text() -> None:
    assert sniff(SAMPLES / "text_named.pdf") == "txt"


def test_names_promise_kinds_and_only_surprises_count() -> None:
    assert promised_type("Report.PDF") == "pdf"
    assert promised_type("macros.docm") == "docx"
    assert promised_type("README") is None
    assert is_misnamed("report.pdf", "txt")
    assert is_misnamed("photo.png", "jpg")
    assert not is_misnamed("notes.md", "txt")
    assert not is_misnamed("list.txt", "csv")
    assert not is_misnamed("whatever.xyz", "pdf")


def test_the_table_of_kinds_is_whole() -> None:
    extensions = [extension for kind in KINDS.values() for extension in kind.extensions]
    assert len(extensions) == len(set(extensions))
    assert all(extension == extension.lower() and extension[0] == "." for extension in extensions)
    assert {kind.modality for kind in KINDS.values()} == set(FileModality)
    ours = {kind.module for kind in KINDS.values() if kind.modality is FileModality.TEXT}
    assert all(find_spec(module) for module in ours)


@pytest.mark.parametrize(
    ("kind", "unwanted"),
    [
        ("pdf", ("openpyxl", "docx", "pptx", "trafilatura", "lxml", "charset_normalizer")),
        ("txt", ("pymupdf", "lxml", "openpyxl", "charset_normalizer")),
        ("docx", ("pymupdf", "openpyxl", "pptx", "trafilatura")),
    ],
)
def test_a_kind_does_not_load_the_libraries_of_others(kind: str, unwanted: tuple[str, ...]) -> None:
    code = (
        "import sys; from extract.registry import extractor_for;"
        f"extractor_for({kind!r}); print([name for name in {unwanted!r} if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert ast.literal_eval(printed) == []
