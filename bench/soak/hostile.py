"""What hostile clients send: texts that are hard on patterns, a page that is slow to draw, a slow site."""

from __future__ import annotations

import asyncio
from contextlib import suppress

LENGTH = 200_000
FIVE_MEGABYTES = 5 * 2**20
TEXTS = {
    "digits": "9" * LENGTH,
    "numbers": "1,000." * (LENGTH // 6),
    "equals": "=" * LENGTH,
    "brackets": "([{<" * (LENGTH // 4),
    "spaces": " \t" * (LENGTH // 2) + "x",
    "letters": "a" * LENGTH,
    "markup": "<a &#<!--" * (LENGTH // 9),
    "one line": "word 12 " * (FIVE_MEGABYTES // 8),
}
"""Name and text of each kind."""

QUESTION = "How much does the hyperdrive of the ship Vesta cost?"
SHADINGS = 20


def document(text: str, number: int) -> bytes:
    """Return a text that a question finds, with something hostile behind what it finds."""
    return f"The hyperdrive of the ship Vesta costs {number} florins in total. {text}".encode()


def slow_page() -> bytes:
    """Return a PDF whose one page is quick to read and slow to draw: shadings that compute every pixel."""
    program = b"{ 2 copy mul sin exch cos mul dup dup %s }" % (b"dup mul sqrt sin " * 60)
    function = b"<</FunctionType 4/Domain[0 612 0 792]/Range[0 1 0 1 0 1]/Length %d>>stream\n%s\nendstream"
    painted = b"/S0 sh " * SHADINGS + b"BT /F1 12 Tf 72 72 Td (The hyperdrive of the ship Vesta.) Tj ET"
    return _pdf(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources"
        b"<</Shading<</S0 5 0 R>>/Font<</F1 7 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(painted), painted),
        b"<</ShadingType 1/ColorSpace/DeviceRGB/Domain[0 612 0 792]/Function 6 0 R>>",
        function % (len(program), program),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )


def _pdf(*objects: bytes) -> bytes:
    """Return a PDF of these objects, numbered from 1; the first is its catalogue."""
    whole, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(whole))
        whole += b"%d 0 obj%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (size, len(whole))
    return whole + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + end


async def endless_site(port: int) -> None:
    """Serve pages on a loopback port that come a byte a second, for as long as somebody reads."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n")
            while not writer.is_closing():
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(1)

    async with await asyncio.start_server(answer, "127.0.0.1", port) as server:
        await server.serve_forever()
