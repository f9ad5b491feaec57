"""What old fonts of TeX give otherwise than as characters: ligatures, accents on letters, names of codes."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from extract.base import Element, Kind, Limits, Request
from extract.pdf.reader import extract

CMAP = b"begincmap 1 begincodespacerange <00> <ff> endcodespacerange\n"
# The dingbats a65, a97 … as Ghostscript states them for glyphs of these names; it has none for s and others.
DINGBATS = dict(
    zip("Aacdefilnopy", "❆❛❝❞❡❢✐❧♥♦♣②", strict=True),
) | {"\x1c": "✜", "7": "✼"}


def pdf_of(codes: bytes, characters: dict[str, str] | None = None) -> bytes:
    """Return a page with one line in a font of drawn glyphs whose names say nothing, as TeX makes them.

    Codes of blanks move on by a third of a size. `characters` are those that the font states for its codes.
    """
    names = " ".join(f"/a{code}" for code in range(256))
    glyphs = " ".join(f"/a{code} 6 0 R" for code in range(256))
    widths = " ".join(["5"] * 256)
    drawn = b"5 0 0 0 5 7 d1 0 0 4 7 re f"
    words = [b"".join(b"\\%03o" % code for code in word) for word in codes.split(b" ")]
    between = b") -333 (" if characters else b"\\040"
    text = b"BT /F 12 Tf 72 700 Td [(" + between.join(words) + b")] TJ ET"
    stated = "".join(f"<{ord(code):02x}> <{ord(one):04x}>\n" for code, one in (characters or {}).items())
    table = f"{len(characters or {})} beginbfchar\n{stated}endbfchar\n".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 5 7] /FontMatrix [0.1 0 0 0.1 0 0] /FirstChar 0"
        b" /LastChar 255 /Encoding << /Type /Encoding /Differences [0 " + names.encode() + b"] >>"
        b" /CharProcs << "
        + glyphs.encode()
        + b" >> /Widths ["
        + widths.encode()
        + (b"] /ToUnicode 7 0 R >>" if characters else b"] >>"),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(CMAP) + len(table), CMAP + table),
    ]
    file = b"%PDF-1.4\n"
    for number, each in enumerate(objects, start=1):
        file += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    return file + b"trailer << /Root 1 0 R /Size 8 >>\n%%EOF"


def read(path: Path, codes: bytes) -> Element:
    path.write_bytes(pdf_of(codes))
    return paragraph(path)


def paragraph(path: Path) -> Element:
    found = extract(path, Request(Limits(10)))
    return next(each for each in found if isinstance(each, Element) and each.kind is Kind.PARAGRAPH)


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        (b"The in\x1duence of di\x1berent o\x1eces is \x1cne", "The influence of different offices is fine"),
        (b"The in\x0duence of di\x0berent o\x0eces is \x0cne", "The influence of different offices is fine"),
        (b"the \x10\x1crst\x11 \x15 of many", "the “first” – of many"),
    ],
    ids=["T1", "OT1", "marks"],
)
def test_ligatures_are_letters(tmp_path: Path, codes: bytes, text: str) -> None:
    element = read(tmp_path / "old.pdf", codes)
    assert element.text == text
    # Each word has its own box, in order.
    (run,) = element.located.runs
    assert [element.text[start:end] for start, end, *_ in run.words] == text.split()
    edges = [(word[2], word[4]) for word in run.words]
    assert all(left < right for left, right in edges)
    assert edges == sorted(edges)


def test_greek_letters_are_no_ligatures(tmp_path: Path) -> None:
    assert read(tmp_path / "greek.pdf", b"the angle \x0b of \x0c is small").text == "the angle of is small"


def test_greek_letters_stay_such_beside_ligatures(tmp_path: Path) -> None:
    codes = b"the in\x0duence of the angle \x0b of \x0c is small"
    assert read(tmp_path / "both.pdf", codes).text == "the influence of the angle of is small"


def accented(path: Path, moves: str) -> Element:
    """Read a page with one line: strings and the moves between them, in thousandths of the type's size."""
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=595, height=842)
        page.insert_text((72, 100), "x", fontname="helv")
        (contents,) = page.get_contents()
        drawn = f"BT /helv 12 Tf 72 700 Td [{moves}] TJ ET"
        pdf.update_stream(contents, drawn.encode("latin-1"))
        pdf.save(path)
    return paragraph(path)


@pytest.mark.parametrize(
    ("moves", "text"),
    [
        # As TeX draws them: to the middle of the letter, the accent, back, the letter.
        ("(mat) -111 (´) 444 (eriel fran) -83 (¸) 416 (cais)", "matériel français"),
        ("-167 (´) 500 (Electricien, d) -111 (´) 444 (ej) -111 (`) 444 (a)", "Électricien, déjà"),
        # Marks beside letters are themselves.
        ("(l´eau, `a` = 3, x´)", "l´eau, `a` = 3, x´"),
    ],
)
def test_accents_are_put_on_their_letters(tmp_path: Path, moves: str, text: str) -> None:
    element = accented(tmp_path / "accents.pdf", moves)
    assert element.text == text
    (run,) = element.located.runs
    assert [element.text[start:end] for start, end, *_ in run.words] == text.split()


def test_dingbats_are_the_letters_whose_codes_their_names_are(tmp_path: Path) -> None:
    path = tmp_path / "old.pdf"
    path.write_bytes(pdf_of(b"Analys of \x1cne 7 patterns in a list of points", DINGBATS))
    element = paragraph(path)
    assert element.text == "Analys of fine 7 patterns in a list of points"
    (run,) = element.located.runs
    edges = [(word[2], word[4]) for word in run.words]
    assert edges == sorted(edges)
    assert len(edges) == len(element.text.split())


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        (b"1Yes 2No 33334 towers", "✓Yes ✗No ★★★★☆ towers"),
        (b"Keep5it, and 6 or78", "Keep①it, and ② or③④"),
        (b"A:0 a:9", "A:♠ a:♥"),
    ],
)
def test_dingbats_that_rate_count_or_list_stay(tmp_path: Path, codes: bytes, text: str) -> None:
    path = tmp_path / "signs.pdf"
    path.write_bytes(pdf_of(codes, dict(zip("1234567809", "✓✗★☆①②③④♠♥", strict=True))))
    assert paragraph(path).text.replace(" ", "") == text.replace(" ", "")
