"""Make the sample files beside this script: `python -m tests.samples.make`.

They are committed, so that tests do not depend on the PDF library that wrote them. The spoken one needs
Debian's `espeak-ng`, `office.pdf` its `libreoffice-writer-nogui`, `hidden.xls` its `libreoffice-calc-nogui`,
the photo `pillow-heif`, which is no dependency of Locus. `locked.docx` is made of two paragraphs by
`msoffcrypto-tool`, which is none either; its password is “pass word €”.
"""

from __future__ import annotations

import subprocess
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import av
import pymupdf
from openpyxl import Workbook
from PIL import Image

HERE = Path(__file__).parent
AES_256: int = pymupdf.PDF_ENCRYPT_AES_256  # type: ignore[attr-defined]
BODY = [
    "The lighthouse on Gull Island was built in 1871 from grey granite. Its lamp burned whale oil at first, "
    "then paraffin, and has been electric since 1934. On a clear night it is seen from nineteen nautical "
    "miles away.",
    "Three keepers lived on the island with their families. They wound the clockwork every four hours, "
    "trimmed the wicks at dusk and wrote down the weather six times a day. Their journals fill forty-two "
    "volumes.",
    "In the winter of 1902 the supply boat did not come for eleven weeks. The keepers baked bread from "
    "barley and burned driftwood in the stove, yet the lamp was dark on no single night.",
    "Since 1988 the light has worked without a keeper. A technician visits twice a year, checks the "
    "batteries and cleans the lens, which weighs 1,340 kilograms and floats in a basin of mercury.",
]
CHAPTERS = ["The Tower", "The Keepers", "The Long Winter", "The Machine"]
PAGE = pymupdf.Rect(0, 0, 595, 842)
SPOKEN = [
    "The supply boat did not come for eleven weeks.",
    "Since nineteen eighty eight the light has worked without a keeper.",
]
SILENCE_22K = bytes(2 * 22_050 * 3)


def main() -> None:
    """Write every sample."""
    plain = report()
    save(plain, "report.pdf")
    save(plain, "encrypted.pdf", encryption=AES_256, user_pw="secret", owner_pw="owner")
    save(plain, "no_password.pdf", encryption=AES_256, user_pw="", owner_pw="owner")
    content = (HERE / "report.pdf").read_bytes()
    (HERE / "truncated.pdf").write_bytes(content[: len(content) // 2])
    save(turned(), "turned.pdf")
    save(picture_only(), "scan.pdf")
    (HERE / "no_pages.pdf").write_bytes(no_pages())
    (HERE / "text_named.pdf").write_text("\n\n".join(BODY) + "\n")
    (HERE / "notes.md").write_text(notes())
    scans(plain)
    (HERE / "speech.opus").write_bytes(spoken())
    write_office_pdf()
    write_old_workbook()


def save(pdf: pymupdf.Document, name: str, **options: object) -> None:
    """Save without the random id that would change the file every time."""
    pdf.save(HERE / name, garbage=4, deflate=True, no_new_id=True, **options)


def report() -> pymupdf.Document:
    """Return four pages with a running head and foot, a chapter heading and text on each."""
    pdf = pymupdf.open()
    for number, (title, text) in enumerate(zip(CHAPTERS, BODY, strict=True), start=1):
        page = pdf.new_page(width=PAGE.width, height=PAGE.height)
        page.insert_text((72, 40), "Gull Island Light, a short history", fontsize=8)
        page.insert_text((72, 110), title, fontsize=18, fontname="hebo")
        write(page, pymupdf.Rect(72, 140, 523, 400), text)
        page.insert_text((290, 820), str(number), fontsize=8)
    return pdf


def turned() -> pymupdf.Document:
    """Return a page for each rotation, whole and cropped, with text near every edge of what is shown."""
    pdf = pymupdf.open()
    for rotation in (0, 90, 180, 270):
        for crop in (PAGE, pymupdf.Rect(50, 120, 450, 700)):
            page = pdf.new_page(width=PAGE.width, height=PAGE.height)
            write(page, pymupdf.Rect(crop.x0 + 20, crop.y0 + 20, crop.x1 - 20, crop.y0 + 200), BODY[0])
            write(page, pymupdf.Rect(crop.x0 + 20, crop.y1 - 140, crop.x1 - 20, crop.y1 - 5), BODY[1])
            page.insert_text((5, 60), "hidden", fontsize=9) if crop != PAGE else None
            page.set_cropbox(crop)
            page.set_rotation(rotation)
    return pdf


def picture_only() -> pymupdf.Document:
    """Return a page that is nothing but a picture."""
    pdf = pymupdf.open()
    page = pdf.new_page(width=PAGE.width, height=PAGE.height)
    picture = pymupdf.Pixmap(pymupdf.csGRAY, (0, 0, 64, 64), False)
    picture.clear_with(128)
    page.insert_image(pymupdf.Rect(72, 72, 300, 300), pixmap=picture)
    return pdf


def no_pages() -> bytes:
    """Return a valid PDF whose page tree is empty."""
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"
        b"xref\n0 3\n0000000000 65535 f \n0000000009 00000 n \n0000000052 00000 n \n"
        b"trailer<</Size 3/Root 1 0 R>>\nstartxref\n98\n%%EOF\n"
    )


def notes() -> str:
    """Return Markdown with headings of two levels and a list."""
    first, second, third, fourth = BODY
    keepers = f"## Keepers\n\n{second}\n\n- bread\n- barley"
    return f"# Gull Island\n\n{first}\n\n{keepers}\n\n## Later\n\n{third}\n\n{fourth}\n"


def write_office_pdf() -> None:
    """Let an office program make a PDF: justified lines, bold and italic ones, a list, a table, two pages."""
    first, second, third, fourth = BODY
    rows = "".join(
        f"<tr><td>{name}</td><td>{year}</td></tr>" for name, year in [("Granite tower", 1871), ("Lamp", 1934)]
    )
    page = f"""<html lang="en"><head><meta charset="utf-8"><title>Gull Island Light</title><style>
        @page {{ size: a5; margin: 18mm }} p {{ text-align: justify; font-family: serif; font-size: 11pt }}
        </style></head><body><h1>Gull Island Light</h1><p>{first}</p><p><b>{second}</b></p>
        <ul><li>The office keeps the older logbooks in two cupboards.</li>
        <li>Visitors find the fifth floor of the tower shut in winter.</li></ul>
        <table border="1"><tr><th>Part</th><th>Since</th></tr>{rows}</table>
        <h2 style="page-break-before: always">Later</h2><p><i>{third}</i></p><p>{fourth}</p></body></html>"""
    with TemporaryDirectory() as folder:
        source = Path(folder) / "office.html"
        source.write_text(page)
        convert(source, "--infilter=HTML (StarWriter)", "--convert-to", "pdf")


def write_old_workbook() -> None:
    """Let an office program make a workbook of Excel before 2007, with a hidden row and a hidden column."""
    book = Workbook()
    sheet = book.create_sheet("Pay", 0)
    for row in [["Name", "Age", "Pay"], ["Ann", 31, 5], ["Bo", 40, 6]]:
        sheet.append(row)
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["C"].hidden = True
    with TemporaryDirectory() as folder:
        source = Path(folder) / "hidden.xlsx"
        book.save(source)
        convert(source, "--convert-to", "xls")


def convert(source: Path, *options: str) -> None:
    """Let LibreOffice write a file beside this script."""
    command = ["soffice", f"-env:UserInstallation=file://{source.parent}/profile", "--headless"]
    subprocess.run([*command, *options, "--outdir", str(HERE), str(source)], check=True, capture_output=True)


def scans(pdf: pymupdf.Document) -> None:
    """Write pages of a PDF as pictures: one as a scanner leaves it, two in one file, the second turned."""
    first, second = (
        Image.open(BytesIO(page.get_pixmap(dpi=100, colorspace="gray").tobytes())) for page in pdf.pages(0, 2)
    )
    first.save(HERE / "scan.png", optimize=True)
    from pillow_heif import register_heif_opener

    register_heif_opener()
    first.convert("RGB").crop((0, 0, 600, 400)).save(HERE / "photo.heic", quality=70)
    pages = [image.point(lambda grey: grey > 128 and 255).convert("1") for image in (first, second)]
    turned = pages[1].transpose(Image.Transpose.ROTATE_270)
    pages[0].save(HERE / "scans.tiff", compression="group4", save_all=True, append_images=[turned])


def spoken() -> bytes:
    """Return the words of SPOKEN, with a long silence between its sentences."""
    ogg = BytesIO()
    with av.open(ogg, "w", format="ogg") as container:
        track = container.add_stream("libopus", rate=48_000, layout="mono")
        track.bit_rate = 32_000
        resampler = av.AudioResampler("s16", "mono", 48_000)
        frames = [
            frame
            for sentence in SPOKEN
            for part in (said(sentence), SILENCE_22K)
            for frame in resampler.resample(sound(part))
        ]
        for frame in [*frames, *resampler.resample(None)]:
            frame.pts = None
            container.mux(track.encode(frame))
        container.mux(track.encode(None))
    return ogg.getvalue()


def said(sentence: str) -> bytes:
    """Return a sentence as 16-bit samples, 22,050 a second."""
    command = ["espeak-ng", "-v", "en-us", "-s", "140", "--stdout", sentence]
    return subprocess.run(command, check=True, capture_output=True).stdout[44:]


def sound(samples: bytes) -> av.AudioFrame:
    """Return samples as a frame."""
    frame = av.AudioFrame("s16", "mono", len(samples) // 2)
    frame.sample_rate = 22_050
    frame.planes[0].update(samples[: len(samples) // 2 * 2])
    return frame


def write(page: pymupdf.Page, box: pymupdf.Rect, text: str) -> None:
    """Write a paragraph; fail if it does not fit."""
    assert page.insert_textbox(box, text, fontsize=11) >= 0


if __name__ == "__main__":
    main()
