"""E-mails: headers, the body that says most, and the files they bring."""

from __future__ import annotations

from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path

import pytest

from extract.base import Kind
from extract.errors import Empty, FileTooLarge
from extract.mail import letter
from extract.mail.letter import safe_name
from tests.extract.reading import REQUEST, Read, read, read_bytes


def message(body: str = "Send more oil.\n\nThe lamp is dark.\n") -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"] = "Ann Möwe <ann@example.org>", "bob@example.org"
    mail["Subject"], mail["Date"] = "Öl und Dochte", "Tue, 01 Oct 2024 12:34:56 -0500"
    if body:
        mail.set_content(body)
    return mail


def received(folder: Path, mail: EmailMessage) -> Read:
    (folder / "out").mkdir(exist_ok=True)
    return read_bytes(folder, mail.as_bytes(), replace(REQUEST, attachments=folder / "out"))


def test_headers_and_body(tmp_path: Path) -> None:
    found = received(tmp_path, message())
    assert found.opened.title == "Öl und Dochte"
    assert [(element.kind, element.text) for element in found.elements] == [
        (Kind.HEADING, "Öl und Dochte"),
        (Kind.PARAGRAPH, "From: Ann Möwe <ann@example.org>"),
        (Kind.PARAGRAPH, "To: bob@example.org"),
        (Kind.PARAGRAPH, "Date: Tue, 01 Oct 2024 12:34:56 -0500"),
        (Kind.PARAGRAPH, "Send more oil."),
        (Kind.PARAGRAPH, "The lamp is dark."),
    ]


def test_what_a_reply_quotes_is_read_without_its_marks(tmp_path: Path) -> None:
    quoted = (
        "> Dear Ann,\n>\n> About 60 slates are slipping, since the\n> iron nails have rusted\n> through.\n>\n"
        "> - a lamp\n> - a wick\n>> Who looks\n> > at the roof?\n> I do.\n"
    )
    body = f"Thank you, we accept.\n\nOn Friday Bob wrote:\n{quoted}Ann\n"
    found = received(tmp_path, message(body))
    assert [element.text for element in found.elements][4:] == [
        "Thank you, we accept.",
        "On Friday Bob wrote:",
        "Dear Ann,",
        "About 60 slates are slipping, since the iron nails have rusted through.",
        "- a lamp",
        "- a wick",
        "Who looks at the roof?",
        "I do.",
        "Ann",
    ]


def test_an_arrow_in_a_line_is_no_quotation(tmp_path: Path) -> None:
    found = received(tmp_path, message("Go to Menu > Lamps.\n\nIf 3 > 2, stop.\n"))
    assert [element.text for element in found.elements][4:] == ["Go to Menu > Lamps.", "If 3 > 2, stop."]


def test_plain_text_goes_before_html(tmp_path: Path) -> None:
    mail = message()
    mail.add_alternative("<p>in HTML</p>", subtype="html")
    assert "in HTML" not in received(tmp_path, mail).text


def test_html_alone(tmp_path: Path) -> None:
    mail = message("")
    mail.set_content("<table><tr><th>Year<th>Oil<tr><td>1871<td>4</table>", subtype="html", charset="utf-16")
    assert received(tmp_path, mail).texts(Kind.TABLE) == ["| Year | Oil |\n| --- | --- |\n| 1871 | 4 |"]


def test_attachments_become_files(tmp_path: Path) -> None:
    inner = message("An inner message.")
    mail = message()
    mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="../../etc/oil.pdf")
    mail.add_attachment(inner)
    mail.add_attachment("a,b\n1,2\n", filename="c:\\temp\\list.csv")
    found = received(tmp_path, mail)
    assert [attached.name for attached in found.attached] == ["oil.pdf", "Öl und Dochte.eml", "list.csv"]
    stored = [(tmp_path / "out" / attached.stored).read_bytes() for attached in found.attached]
    assert stored[0] == b"%PDF-1.4"
    assert b"An inner message." in stored[1]
    assert "An inner message." not in found.text


def test_attachments_nobody_asked_for_are_named(tmp_path: Path) -> None:
    mail = message()
    mail.add_attachment(b"x", maintype="application", subtype="pdf", filename="oil.pdf")
    found = read_bytes(tmp_path, mail.as_bytes())
    assert ("attachments_left_out", True) in [(one.code, "oil.pdf" in one.message) for one in found.warnings]


def test_pictures_shown_in_the_body_are_no_attachments(tmp_path: Path) -> None:
    mail = message("")
    mail.set_content("<p>See <img src='cid:1'></p>", subtype="html")
    mail.add_related(b"GIF89a", maintype="image", subtype="gif", cid="<1>")
    assert received(tmp_path, mail).attached == []


@pytest.mark.parametrize(("limit", "value"), [("MAX_ATTACHMENTS", 2), ("MAX_ATTACHED_BYTES", 10)])
def test_too_many_attachments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(letter, limit, value)
    mail = message()
    for number in range(3):
        mail.add_attachment(b"12345", maintype="application", subtype="pdf", filename=f"{number}.pdf")
    with pytest.raises(FileTooLarge, match="attachments"):
        received(tmp_path, mail)


@pytest.mark.parametrize("depth", [30, 500, 5000])
def test_messages_in_messages_without_end(tmp_path: Path, depth: int) -> None:
    headers = b"From: a@example.org\nTo: b@example.org\nSubject: again\nContent-Type: message/rfc822\n\n"
    with pytest.raises(FileTooLarge, match="without end"):
        read_bytes(tmp_path, headers * depth + b"Subject: last\n\nHello\n")


def test_parts_in_parts_without_end(tmp_path: Path) -> None:
    head = b"From: a@example.org\nTo: b@example.org\nSubject: again\n"
    parts = b"".join(
        b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (n, n) for n in range(1500)
    )
    with pytest.raises(FileTooLarge, match="without end"):
        read_bytes(tmp_path, head + parts + b"\nHello\n")


def test_headers_that_make_no_sense(tmp_path: Path) -> None:
    headers = b"From: =?utf-8?b?!!!?= <<>\nTo: \xff\xfe\nDate: never\nSubject: ok\n"
    raw = headers + b"Content-Type: text/x; charset=idna\n\nHi"
    assert "ok" in read_bytes(tmp_path, raw).text


def test_a_message_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(Empty):
        read_bytes(tmp_path, b"Received: x\nMessage-ID: <1>\nMIME-Version: 1.0\n\n\n")


@pytest.mark.parametrize(
    ("given", "name"),
    [("a/b\\c.txt", "c.txt"), ("..", "attachment 3"), (None, "attachment 3"), ("a\n b\0.txt", "a b.txt")],
)
def test_names_of_attachments_lead_nowhere(given: str | None, name: str) -> None:
    assert safe_name(given, 3) == name


def test_outlook(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "robustness" / "unstructured" / "fake-email-attachment.msg"
    found = read(path, replace(REQUEST, attachments=tmp_path))
    assert found.opened.title == "Fake email with attachment"
    assert "Here's the attachments!" in found.text
    assert [attached.name for attached in found.attached] == ["fake-attachment.txt"]
    assert (tmp_path / found.attached[0].stored).read_bytes()
