"""Pictures and charts of a page: found where they stand, told from what else is drawn, with their words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pymupdf
import pytest

from core.locations import Box, LocatedText, OnPage, Page, PageBox
from extract.base import Element, Kind, Limits, Pictured, Request, TextOrigin, UnitRead
from extract.labels import is_caption
from extract.registry import extract
from ingestion.pictures import Description, pictures_in, with_pictures
from ingestion.structure.elements import structure_elements
from tests.ingestion import pictured as sample
from tests.testing.paths import SAMPLES

TEXT = Request(Limits(20))
PICTURES = replace(TEXT, deep=True, pictures=True)
SHEET = Page(1, 400, 600)


def found_in(path: Path) -> list[Pictured]:
    return [finding for finding in extract(path, PICTURES) if isinstance(finding, Pictured)]


def composed(path: Path) -> list[Element]:
    """Return the elements of a file with its pictures in their places."""
    elements = [finding for finding in extract(path, TEXT) if isinstance(finding, Element)]
    return with_pictures(structure_elements(elements), found_in(path))


def texts_of(elements: list[Element]) -> list[list[str]]:
    """Return the texts of each picture."""
    runs = groupby(elements, key=lambda element: element.picture)
    return [[element.text for element in run] for picture, run in runs if picture]


def is_close(box: Box, rect: pymupdf.Rect, within: float) -> bool:
    edges = (rect.x0, rect.y0, rect.x1, rect.y1)
    return all(abs(one - other) <= within for one, other in zip(box, edges, strict=True))


# --- Where they stand --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("cropped", [False, True])
def test_a_photo_and_a_chart_are_found_where_they_are_displayed(
    tmp_path: Path, rotation: int, cropped: bool
) -> None:
    path = sample.write_report(tmp_path / "report.pdf", rotation=rotation, cropped=cropped)
    photo, chart = found_in(path)
    moved = (-20, -30, -20, -30) if cropped else (0, 0, 0, 0)
    assert photo.area and chart.area
    assert is_close(photo.area.box, sample.PHOTO_BOX + moved, 1)
    # The labels of the axes count, what is white around them does not.
    assert is_close(chart.area.box, sample.CHART_BOX + moved, 22)
    assert chart.area.box.y2 > 640 + moved[1]
    assert [words.text for words in photo.words] == [sample.SIGN]
    assert all(photo.area.holds(box) for box in photo.words[0].boxes())
    assert chart.words == ()


@pytest.mark.parametrize("rotation", [0, 270])
def test_what_belongs_to_a_picture_stands_together_and_nowhere_else(tmp_path: Path, rotation: int) -> None:
    elements = composed(sample.write_report(tmp_path / "report.pdf", rotation=rotation))
    photo, chart = texts_of(elements)
    assert photo == [sample.PHOTO_CAPTION, sample.SIGN]
    assert chart[0] == sample.CHART_CAPTION
    labels = {*sample.YEARS, *(str(10 * height) for height in sample.YEARS.values())}
    assert set(" ".join(chart[1:]).split()) == labels
    running = [element.text for element in elements if element.picture is None]
    assert " ".join(running[1:]) == f"{sample.BEFORE} {sample.AFTER}"


def test_pictures_come_where_they_stand_in_the_text(tmp_path: Path) -> None:
    kinds = [
        element.picture is not None
        for element in composed(sample.write_report(tmp_path / "report.pdf"))
        if element.kind is not Kind.HEADING
    ]
    assert [is_picture for is_picture, _ in groupby(kinds)] == [False, True, False, True]


def test_on_a_giant_page_charts_are_found_too(tmp_path: Path) -> None:
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=14_400, height=14_400)
        for at, height in enumerate((1000, 4000, 2500, 6000)):
            left = 1000 + 1500 * at
            page.draw_rect(pymupdf.Rect(left, 9000 - height, left + 1480, 9000), fill=(0.2, 0.4, 0.7))
        page.draw_line((1000, 9000), (6980, 9000))
        page.insert_textbox(pymupdf.Rect(500, 10_000, 9000, 12_000), sample.BEFORE, fontsize=120)
        pdf.save(tmp_path / "poster.pdf")
    [chart] = found_in(tmp_path / "poster.pdf")
    assert chart.area and is_close(chart.area.box, pymupdf.Rect(1000, 3000, 6980, 9000), 10)


def test_an_image_in_strips_is_one_picture(tmp_path: Path) -> None:
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=400, height=600)
        page.insert_textbox(pymupdf.Rect(50, 30, 350, 150), sample.BEFORE, fontsize=11)
        for strip in range(20):
            box = pymupdf.Rect(50, 200 + 8 * strip, 350, 208 + 8 * strip)
            page.insert_image(box, stream=sample.photo(), keep_proportion=False)
        pdf.save(tmp_path / "page.pdf")
    [picture] = found_in(tmp_path / "page.pdf")
    assert picture.area and is_close(picture.area.box, pymupdf.Rect(50, 200, 350, 360), 1)


# --- What is none ------------------------------------------------------------------------------------------


def ruled_table(page: pymupdf.Page) -> None:
    """Draw a table with rules and every second row shaded."""
    for row in range(8):
        top = 100 + 20 * row
        shade = (0.8, 0.9, 0.8) if row % 2 else (1, 1, 1)
        page.draw_rect(pymupdf.Rect(50, top, 350, top + 20), fill=shade, color=(0, 0, 0))
        for column, text in enumerate((f"Town {row}", f"{row * 17}", f"{row * 3}.5")):
            page.insert_text((60 + 100 * column, top + 14), text, fontsize=9)


def notice(page: pymupdf.Page) -> None:
    """Draw a box with round corners around a paragraph."""
    page.draw_rect(pymupdf.Rect(50, 100, 350, 220), fill=(1, 0.95, 0.8), color=(0.5, 0.4, 0), radius=0.1)
    page.insert_textbox(pymupdf.Rect(60, 110, 340, 210), sample.BEFORE, fontsize=10)


def background(page: pymupdf.Page) -> None:
    """Put an image below the whole page, and text on it."""
    page.insert_image(page.rect, stream=sample.photo(), keep_proportion=False)
    page.insert_textbox(pymupdf.Rect(50, 50, 350, 300), f"{sample.BEFORE}\n{sample.AFTER}", fontsize=11)


def logo(page: pymupdf.Page) -> None:
    page.insert_image(pymupdf.Rect(350, 20, 390, 40), stream=sample.photo())
    page.insert_textbox(pymupdf.Rect(50, 80, 350, 300), sample.BEFORE, fontsize=11)


def rules(page: pymupdf.Page) -> None:
    page.draw_line((20, 60), (390, 60))
    page.draw_rect(pymupdf.Rect(20, 70, 390, 590), color=(0, 0, 0))
    page.insert_textbox(pymupdf.Rect(50, 80, 350, 300), sample.BEFORE, fontsize=11)


@pytest.mark.parametrize("draw", [ruled_table, notice, background, logo, rules])
def test_what_is_drawn_around_text_is_no_picture(
    tmp_path: Path, draw: Callable[[pymupdf.Page], None]
) -> None:
    with pymupdf.open() as pdf:
        draw(pdf.new_page(width=400, height=600))
        pdf.save(tmp_path / "page.pdf")
    assert found_in(tmp_path / "page.pdf") == []


def test_what_comes_back_on_page_after_page_is_no_picture(tmp_path: Path) -> None:
    with pymupdf.open() as pdf:
        for number in range(4):
            page = pdf.new_page(width=400, height=600)
            page.insert_image(pymupdf.Rect(50, 40, 350, 120), stream=sample.photo("HARBOUR NEWS"))
            page.insert_textbox(pymupdf.Rect(50, 150, 350, 300), f"{number} {sample.BEFORE}", fontsize=11)
            if number == 2:
                page.insert_image(pymupdf.Rect(50, 350, 350, 489), stream=sample.photo())
        pdf.save(tmp_path / "news.pdf")
    assert len(found_in(tmp_path / "news.pdf")) == 5
    assert texts_of(composed(tmp_path / "news.pdf")) == [[sample.SIGN]]


def test_words_that_the_page_has_over_a_picture_are_not_read_twice(tmp_path: Path) -> None:
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=400, height=600)
        page.insert_textbox(pymupdf.Rect(50, 30, 350, 150), sample.BEFORE, fontsize=11)
        page.insert_image(pymupdf.Rect(50, 200, 350, 339), stream=sample.photo("NORTH QUAY"))
        page.insert_text((70, 325), "Photographed in May", fontsize=14)
        pdf.save(tmp_path / "page.pdf")
    [texts] = texts_of(composed(tmp_path / "page.pdf"))
    assert texts == ["Photographed in May", "NORTH QUAY"]


# --- Whole pages and other kinds ---------------------------------------------------------------------------


def on_sheet(
    text: str, y: float, *, kind: Kind = Kind.PARAGRAPH, x: float = 50, width: float = 300
) -> Element:
    """Return one line of type on the sheet."""
    place = OnPage(SHEET, int(y), Box(x, y, x + width, y + 10))
    return Element(kind, LocatedText.of_words([(text, place)]))


WHOLE = Pictured(PageBox(Box(0, 0, 400, 600), SHEET))


@pytest.mark.parametrize("path", [SAMPLES / "scan.png", SAMPLES / "scans.tiff"], ids=lambda path: path.name)
def test_each_page_of_an_image_may_be_a_picture(path: Path) -> None:
    findings = list(extract(path, PICTURES))
    units = [finding for finding in findings if isinstance(finding, UnitRead)]
    areas = [finding.area for finding in findings if isinstance(finding, Pictured)]
    assert [area and area.page.number for area in areas] == [unit.number for unit in units]
    for area in areas:
        assert area and area.box == Box(0, 0, area.page.width, area.page.height)


def test_a_page_of_text_is_no_picture_and_one_of_few_words_is() -> None:
    letter = [on_sheet(sample.BEFORE, y) for y in (100, 200, 300)]
    assert with_pictures(letter, [WHOLE]) == letter
    sign = [on_sheet("FERRY", 100), on_sheet("09:30", 200)]
    assert texts_of(with_pictures(sign, [WHOLE])) == [["FERRY", "09:30"]]


def test_a_part_of_a_page_that_is_a_picture_is_not_another() -> None:
    part = Pictured(PageBox(Box(50, 50, 200, 200), SHEET))
    assert texts_of(with_pictures([on_sheet("FERRY", 100)], [WHOLE, part])) == [["FERRY"]]


def test_a_picture_of_which_nothing_is_known_waits_for_its_description() -> None:
    elements = with_pictures([], [WHOLE])
    assert [element.text for element in elements] == [""]
    [area] = pictures_in(elements)
    described = with_pictures([], [WHOLE], {area: Description("A quay in winter.", "seer")})
    assert [(element.text, element.machine) for element in described] == [("A quay in winter.", "seer")]
    assert described[0].located.boxes() == [area]


def test_what_an_office_file_says_of_its_pictures_keeps_apart() -> None:
    alternative = Element(Kind.PICTURE, LocatedText("A map of the quay"))
    other = Element(Kind.PICTURE, LocatedText("A map of the town"))
    text = Element(Kind.PARAGRAPH, LocatedText("Come by ferry."))
    elements = with_pictures([alternative, other, text], [])
    assert texts_of(elements) == [["A map of the quay"], ["A map of the town"]]
    assert elements[2] is text


def test_a_page_that_kills_its_reader_costs_its_pictures_only(tmp_path: Path) -> None:
    path = sample.write_report(tmp_path / "report.pdf")
    findings = list(extract(path, replace(PICTURES, safe_mode=True)))
    assert findings[1:] == [UnitRead(1, TextOrigin.UNREADABLE)]


# --- Captions ----------------------------------------------------------------------------------------------

PICTURE = Pictured(PageBox(Box(50, 200, 350, 400), SHEET))


def caption_among(*elements: Element) -> str | None:
    [texts] = texts_of(with_pictures(elements, [PICTURE]))
    return texts[0] or None


def test_a_caption_that_is_named_goes_before_one_that_is_close() -> None:
    close, named = on_sheet("Taken in May.", 403), on_sheet("Abb. 3: Die Mole im Winter", 425)
    assert caption_among(close, named) == named.text
    assert caption_among(named, on_sheet("Abb. 2: Der Leuchtturm", 160)) == named.text


@pytest.mark.parametrize(
    "element",
    [
        on_sheet(sample.BEFORE, 405),
        on_sheet("Far below it", 430),
        on_sheet("Figure 9. In the other column", 405, x=360, width=30),
        on_sheet("Beside it", 300, x=360, width=30),
        on_sheet("A heading", 403, kind=Kind.HEADING),
        on_sheet("12", 403, kind=Kind.PAGE_FOOTER),
    ],
    ids=["long", "far", "other column", "beside", "heading", "page footer"],
)
def test_what_is_no_caption(element: Element) -> None:
    assert caption_among(element) is None


def test_a_heading_in_a_picture_goes_on_heading_what_follows() -> None:
    title, label = on_sheet("Ships", 205, kind=Kind.HEADING), on_sheet("42", 350, kind=Kind.HEADING)
    elements = with_pictures([title, label], [PICTURE])
    assert [(element.kind, element.text) for element in elements] == [
        (Kind.HEADING, "Ships"),
        (Kind.PICTURE, "42"),
    ]


@pytest.mark.parametrize(
    "text", ["Figure 3", "Fig. 2b: Ships", "FIG. IV", "Chart: ships a year", "Abb. 1.2 Mole"]
)
def test_captions_are_known_by_how_they_begin(text: str) -> None:
    assert is_caption(text)


@pytest.mark.parametrize(
    "text", ["Figures were up", "Charter 7", "Mapping", "Picture the quay", "The figure 3"]
)
def test_other_paragraphs_begin_otherwise(text: str) -> None:
    assert not is_caption(text)
