"""Files that open with a password: unlocked by a request, kept without it, and the password nowhere."""

from __future__ import annotations

import io
import json
import logging
import subprocess
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.models import AuditEntry
from core.errors import DocumentError
from extract.unlocking import NOT_PROTECTED, UNLOCKED, WRONG_PASSWORD, unlock
from ingestion.pipeline import fail, ingest
from kb.models import Chunk, Document, Status
from tests.conftest import Cast
from tests.factories import pdf_of
from tests.kb.test_unpacking import archive
from tests.samples.make import AES_256

pytestmark = pytest.mark.django_db
API = "/api/v1/documents"
SAMPLES = Path(__file__).resolve().parents[1] / "samples"
SHARED = Path("/work/shared/data/robustness")
PASSWORD = "vërtraulich 42"


def locked_pdf(text: str = "The vault holds forty kilos of saffron.", password: str = PASSWORD) -> bytes:
    with pymupdf.open(stream=pdf_of(text), filetype="pdf") as pdf:
        out = io.BytesIO()
        pdf.save(out, encryption=AES_256, user_pw=password, owner_pw="owner")
    return out.getvalue()


def send(cast: Cast, content: bytes, name: str = "vault.pdf", **form: Any) -> Any:
    return Client().post(
        API, {"files": SimpleUploadedFile(name, content), **form}, headers=cast.headers("alice")
    )


def process(document: Document) -> None:
    try:
        ingest(document.pk)
    except DocumentError as error:
        fail(document.pk, error)
    document.refresh_from_db()


def failed(cast: Cast, content: bytes, name: str = "vault.pdf") -> Document:
    [reply] = send(cast, content, name).json()["documents"]
    document = Document.unscoped.get(pk=reply["id"])
    process(document)
    assert (document.status, document.error_code) == (Status.FAILED, "encrypted")
    return document


def unlocking(cast: Cast, document: Document, password: str, who: str = "alice") -> Any:
    body = {"password": password}
    return Client().post(f"{API}/{document.pk}/unlock", body, "application/json", headers=cast.headers(who))


class TestUnlocking:
    def test_a_pdf_is_read_and_drawn_after_its_password(self, cast: Cast) -> None:
        document = failed(cast, locked_pdf())
        reply = unlocking(cast, document, PASSWORD)
        assert (reply.status_code, reply.json()["status"]) == (202, "queued")
        process(document)
        assert (document.status, document.page_count) == (Status.READY, 1)
        assert "saffron" in Chunk.unscoped.get(document_id=document.pk).text
        headers = cast.headers("alice")
        assert Client().get(f"{API}/{document.pk}/pages/1?width=200", headers=headers).status_code == 200
        with Document.unscoped.get(pk=document.pk).file as stored:
            file = stored.read()
        with pymupdf.open(stream=file, filetype="pdf") as pdf:
            assert not pdf.needs_pass
        assert document.size == len(file)
        # What is read again needs no password either.
        Client().post(f"{API}/{document.pk}/reprocess", headers=headers)
        process(document)
        assert document.status == Status.READY

    @pytest.mark.parametrize("password", ["", "wrong", "x" * 501])
    def test_a_wrong_password_changes_nothing_and_can_be_corrected(self, cast: Cast, password: str) -> None:
        document = failed(cast, locked_pdf())
        before = document.file.name
        reply = unlocking(cast, document, password)
        assert reply.status_code == 400
        assert reply.json()["error"]["param"] == "password"
        assert reply.json()["error"]["code"] == (
            "wrong_password" if password == "wrong" else "validation_error"
        )
        document.refresh_from_db()
        assert (document.status, document.file.name) == (Status.FAILED, before)
        assert unlocking(cast, document, PASSWORD).status_code == 202

    def test_attempts_are_limited(self, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("accounts.quotas.request_rates.PASSWORDS_PER_MINUTE", 2)
        document = failed(cast, locked_pdf())
        codes = [unlocking(cast, document, "wrong").json()["error"]["code"] for _ in range(3)]
        assert codes == ["wrong_password", "wrong_password", "rate_limited"]

    def test_only_what_waits_for_a_password_takes_one(self, cast: Cast) -> None:
        [reply] = send(cast, pdf_of("Open to all.")).json()["documents"]
        document = Document.unscoped.get(pk=reply["id"])
        process(document)
        assert unlocking(cast, document, PASSWORD).json()["error"]["code"] == "conflict"

    def test_who_may_not_change_it_may_not_unlock_it(self, cast: Cast) -> None:
        [reply] = send(cast, locked_pdf(), workspace_id=str(cast.team.pk)).json()["documents"]
        document = Document.unscoped.get(pk=reply["id"])
        process(document)
        statuses = [unlocking(cast, document, PASSWORD, who).status_code for who in ("bob", "charlie")]
        assert statuses == [403, 404]

    def test_the_password_is_nowhere(self, cast: Cast, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.DEBUG):
            document = failed(cast, locked_pdf(password="zqx-secret"))
            unlocking(cast, document, "zqx-wrong")
            unlocking(cast, document, "zqx-secret")
        rows = [
            *Document.unscoped.values(),
            *AuditEntry.unscoped.values(),
            *ProcrastinateJob.objects.values(),
        ]
        assert "zqx" not in json.dumps(rows, default=str) + caplog.text

    def test_the_uploaded_bytes_still_name_it(self, cast: Cast) -> None:
        content = locked_pdf()
        document = failed(cast, content)
        unlocking(cast, document, PASSWORD)
        process(document)
        [again] = send(cast, content).json()["documents"]
        assert (again["id"], again["duplicate"], again["status"]) == (str(document.pk), True, "ready")

    def test_an_office_file(self, cast: Cast) -> None:
        document = failed(cast, (SAMPLES / "locked.docx").read_bytes(), "budget.docx")
        assert unlocking(cast, document, "pass word").json()["error"]["code"] == "wrong_password"
        assert unlocking(cast, document, "pass word €").status_code == 202
        process(document)
        assert (document.status, document.file_type) == (Status.READY, "docx")
        assert "four million crowns" in Chunk.unscoped.get(document_id=document.pk).text


class TestUploads:
    def test_a_password_comes_with_the_file(self, cast: Cast) -> None:
        reply = send(cast, locked_pdf(), password=PASSWORD)
        document = Document.unscoped.get(pk=reply.json()["documents"][0]["id"])
        process(document)
        assert (reply.status_code, document.status) == (202, Status.READY)

    def test_one_that_does_not_fit_leaves_a_document_to_be_unlocked(self, cast: Cast) -> None:
        content = locked_pdf()
        [reply] = send(cast, content, password="wrong").json()["documents"]
        document = Document.unscoped.get(pk=reply["id"])
        process(document)
        assert document.error_code == "encrypted"
        [again] = send(cast, content, password=PASSWORD).json()["documents"]
        assert (again["id"], again["status"]) == (reply["id"], "queued")
        process(document)
        assert document.status == Status.READY

    def test_a_protected_archive(self, cast: Cast, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("One.")
        (tmp_path / "b.xml").write_text("<a>Two.</a>")
        made = ["zip", "-q", "-P", PASSWORD, "all.zip", "a.txt", "b.xml"]
        subprocess.run(made, cwd=tmp_path, check=True)
        content = (tmp_path / "all.zip").read_bytes()
        codes = [
            send(cast, content, "all.zip", unpack="true", **given).json()["error"]["code"]
            for given in ({}, {"password": "wrong"})
        ]
        assert codes == ["password_required", "wrong_password"]
        reply = send(cast, content, "all.zip", unpack="true", password=PASSWORD)
        assert [one["name"] for one in reply.json()["documents"]] == ["a.txt", "b.xml"]

    def test_an_open_archive_needs_no_password(self, cast: Cast) -> None:
        reply = send(cast, archive({"a.txt": b"One."}), "all.zip", unpack="true", password=PASSWORD)
        assert reply.status_code == 202


REAL = {
    "pypdf/r6-user-password.pdf": "asdfzxcv",
    "pypdf/r3-user-password.pdf": "asdfzxcv",
    "py-pdf-samples/libreoffice-writer-password.pdf": "openpassword",
    "unstructured/password_protected.xlsx": "123",
}


@pytest.mark.skipif(not SHARED.exists(), reason="without the shared files")
@pytest.mark.parametrize("name", REAL)
def test_real_files_open(name: str, tmp_path: Path) -> None:
    target = tmp_path / "unlocked"
    assert unlock(SHARED / name, "wrong", target) == WRONG_PASSWORD
    assert unlock(SHARED / name, REAL[name], target) == UNLOCKED
    assert unlock(target, REAL[name], tmp_path / "again") == NOT_PROTECTED
