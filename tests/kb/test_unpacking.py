"""Zip archives whose files become documents."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from kb.models import Document
from tests.conftest import Cast
from tests.factories import pdf_of

pytestmark = pytest.mark.django_db
API = "/api/v1/documents"


def archive(files: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return packed.getvalue()


def send(cast: Cast, content: bytes, name: str = "all.zip", **form: Any) -> Any:
    file = SimpleUploadedFile(name, content, content_type="application/zip")
    return Client().post(API, {"files": file, **form}, headers=cast.headers("alice"))


def test_each_file_becomes_a_document_tagged_with_its_folder(cast: Cast) -> None:
    files = {"a.pdf": pdf_of("One."), "2026/May/b.txt": b"Two.", "__MACOSX/._a.pdf": b"x", ".DS_Store": b"x"}
    reply = send(cast, archive(files), unpack="true", tags="all")
    documents = reply.json()["documents"]
    assert reply.status_code == 202
    assert [(one["name"], one["tags"]) for one in documents] == [
        ("a.pdf", ["all"]),
        ("b.txt", ["all", "2026/May"]),
    ]
    with Document.unscoped.get(name="b.txt").file as file:
        assert file.read() == b"Two."


def test_without_being_asked_an_archive_is_one_document(cast: Cast) -> None:
    [document] = send(cast, archive({"a.txt": b"One."})).json()["documents"]
    assert document["name"] == "all.zip"


def test_an_office_file_is_not_unpacked(cast: Cast) -> None:
    [document] = send(cast, archive({"word/a.xml": b"<a/>"}), "a.docx", unpack="true").json()["documents"]
    assert document["name"] == "a.docx"


@pytest.mark.parametrize(
    "content",
    [
        archive({"../out.txt": b"x"}),
        archive({"zeros.txt": bytes(20 * 2**20)}),
        archive({}),
        archive({f"{n}.txt": b"x" for n in range(101)}),
        archive({"a.txt": b"One. " * 100})[:-90] + b"\0" * 90,
        archive({"a.xml": b'<!DOCTYPE a [<!ENTITY b "c">]><a/>'}),
    ],
    ids=["path", "bomb", "empty", "many", "damaged", "entities"],
)
def test_traps_are_refused_before_anything_is_stored(cast: Cast, content: bytes) -> None:
    reply = send(cast, content, unpack="true")
    # What is no archive at all is a document like any other, and fails with a reason.
    assert reply.status_code == 400 or reply.json()["documents"][0]["name"] == "all.zip"
    assert Document.unscoped.exclude(name="all.zip").count() == 0


def test_a_file_over_the_limit_is_refused(cast: Cast, settings: Any) -> None:
    content = archive({"a.txt": b"x" * 5000})
    settings.MAX_UPLOAD_BYTES = 1000
    reply = send(cast, content, unpack="true")
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "files")
