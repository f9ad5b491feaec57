"""Make the guide in each language, `guide.en.pdf` from `guide.en.html`: `python locus/demo/make_guide.py`."""

from io import BytesIO
from pathlib import Path

import pymupdf

HERE = Path(__file__).parent
PAGE = pymupdf.paper_rect("a4")
TEXT_AREA = pymupdf.Rect(72, 58, PAGE.width - 72, PAGE.height - 70)

STYLE = """
body { font-family: serif; font-size: 11pt; line-height: 1.5; color: #1f2430; }
h1 { font-family: sans-serif; font-size: 27pt; margin: 0 0 10pt 0; color: #16324f; }
h2 { font-family: sans-serif; font-size: 15pt; margin: 18pt 0 5pt 0; color: #16324f; }
h3 { font-family: sans-serif; font-size: 12pt; margin: 12pt 0 4pt 0; color: #16324f; }
p { margin: 0 0 7pt 0; }
p.lead { font-size: 12.5pt; color: #4a5568; margin-bottom: 10pt; }
li { margin-bottom: 3pt; }
th { text-align: left; font-family: sans-serif; color: #16324f; }
table { margin-bottom: 12pt; }
td, th { padding: 2pt 12pt 2pt 0; }
"""


def main() -> None:
    """Write the guides."""
    for source in HERE.glob("guide.*.html"):
        write_guide(source)


def write_guide(source: Path) -> None:
    """Write the guide in one language beside its text."""
    html = source.read_text("utf-8")
    document = pymupdf.open("pdf", lay_out(html))
    for number, page in enumerate(document.pages(), start=1):
        place = pymupdf.Point(PAGE.width / 2 - 4, PAGE.height - 40)
        page.insert_text(place, str(number), fontsize=9, color=(0.45, 0.5, 0.55))
    title = html.partition("<h1>")[2].partition("</h1>")[0]
    document.set_metadata({"title": title, "author": "Locus"})
    document.set_toc([[level, text, page] for level, text, page in headings(document)])
    document.subset_fonts()
    document.save(source.with_suffix(".pdf"), garbage=4, deflate=True)


def lay_out(html: str) -> bytes:
    """Lay the text out on as many pages as needed."""
    story = pymupdf.Story(html, user_css=STYLE)
    pages = BytesIO()
    writer = pymupdf.DocumentWriter(pages)
    more = 1
    while more:
        device = writer.begin_page(PAGE)
        more, _ = story.place(TEXT_AREA)
        story.draw(device)
        writer.end_page()
    writer.close()
    return pages.getvalue()


def headings(document: pymupdf.Document) -> list[tuple[int, str, int]]:
    """Find the headings by their size, for the outline."""
    levels = {27: 1, 15: 2}
    lines = (
        (line, page.number + 1)
        for page in document.pages()
        for block in page.get_text("dict")["blocks"]
        for line in block.get("lines", [])
    )
    sized = ((round(line["spans"][0]["size"]), line, number) for line, number in lines)
    return [
        (levels[size], "".join(span["text"] for span in line["spans"]).strip(), number)
        for size, line, number in sized
        if size in levels
    ]


if __name__ == "__main__":
    main()
