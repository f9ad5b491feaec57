"""HTML, Markdown and e-books: headings, lists, tables, code, and what surrounds the content."""

from __future__ import annotations

from pathlib import Path

import pytest

from extract.base import Element, Kind, Limits, Request, TextOrigin
from extract.errors import Corrupted, Empty, Encrypted
from extract.markup import html
from tests.extract.reading import read, read_bytes, simply, stored, zipped

PAGE = """<!DOCTYPE html><html><head><title> Gull
 Island </title><script>var hidden = 1;</script></head><body>
<nav><a href="/">Home</a><a href="/map">Map</a></nav>
<main><h1>The <em>Tower</em></h1>
<p>Built in 1871,<br>of <a href="/g">grey granite</a>.<!-- no --></p>
<ul><li>bread</li><li><p>barley</p></li></ul>
<table><caption>Oil</caption><tr><th>Year</th><th colspan=2>Barrels</th></tr>
<tr><td rowspan=2>1871</td><td>4</td><td>5</td></tr><tr><td>6</td><td>7</td></tr></table>
<pre>light()
  wait()</pre>
<p style="display: none">unseen</p><p hidden>unseen</p><button>Click</button>
<img src="a.png" alt="The tower in a storm"></main>
<footer><p>Imprint</p></footer></body></html>"""


def kinds(elements: list[Element]) -> list[tuple[str, str]]:
    return [(element.kind.value, element.text) for element in elements]


def test_a_page(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, PAGE)
    assert found.opened.title == "Gull Island"
    assert kinds(found.elements) == [
        ("page_header", "Home Map"),
        ("heading", "The Tower"),
        ("paragraph", "Built in 1871, of grey granite."),
        ("list_item", "bread"),
        ("list_item", "barley"),
        ("caption", "Oil"),
        ("table", "| Year | Barrels | Barrels |\n| --- | --- | --- |\n| 1871 | 4 | 5 |\n| 1871 | 6 | 7 |"),
        ("paragraph", "light()\n  wait()"),
        ("picture", "The tower in a storm"),
        ("page_footer", "Imprint"),
    ]


@pytest.mark.parametrize(
    "page",
    [
        "<html><title>Lamps</title><article><h1>Oil</h1><p>Of whales.</p></article></html>",
        "<html><head><title>Lamps</title><main><section><h1>Oil</h1></section></main><p>Of whales.</p>",
        "<title>Lamps</title><header></header><section><h1>Oil</h1></section>Of whales.",
    ],
)
def test_a_head_without_an_end(tmp_path: Path, page: str) -> None:
    found = read_bytes(tmp_path, page)
    assert found.opened.title == "Lamps"
    assert kinds(found.elements) == [("heading", "Oil"), ("paragraph", "Of whales.")]


def test_tables_that_lay_out_a_page_are_read_as_text(tmp_path: Path) -> None:
    page = "<html><table><tr><td><h1>Lamps</h1></td><td><p>Brass.</p></td></tr><tr><td>x<td>y</table>"
    assert [element.text for element in read_bytes(tmp_path, page).elements] == ["Lamps", "Brass.", "x", "y"]


@pytest.mark.parametrize("declared", ["iso-8859-1", "windows-1252", "no-such-charset", "utf-7", "idna"])
def test_charsets(tmp_path: Path, declared: str) -> None:
    page = f'<html><head><meta charset="{declared}"></head><p>Die Möwe grüßt täglich für 3 €, schön.</p>'
    assert "Die Möwe grüßt täglich für 3 €, schön." in read_bytes(tmp_path, page.encode("cp1252")).text


def test_a_page_of_nothing_but_navigation_is_content(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, "<html><nav><p>Home</p><p>Map</p></nav></html>")
    assert kinds(found.elements) == [("paragraph", "Home"), ("paragraph", "Map")]


def test_a_page_that_only_scripts_fill(tmp_path: Path) -> None:
    with pytest.raises(Empty, match="script"):
        read_bytes(tmp_path, "<html><body><div id=app></div><script>go()</script></body></html>")


def test_nesting_without_end_is_survived(tmp_path: Path) -> None:
    assert "hello" in read_bytes(tmp_path, "<html><p>hello</p>" + "<div>" * 50_000).text


def test_pages_from_the_web_lose_their_surroundings(tmp_path: Path) -> None:
    article = "".join(
        f"<p>The keeper wound the clockwork every four hours, on day {n} too.</p>" for n in range(9)
    )
    rows = "<table><tr><th>Day</th><th>Oil</th></tr><tr><td>1</td><td>9 l</td></tr></table>"
    page = (
        "<html><body><div class='menu'><ul><li><a href='/'>Home</a></ul></div>"
        f"<article><h1>Keepers</h1>{article}"
        f"<h2>Oil</h2>{rows}<ul><li>One list item of words</li></ul></article>"
        "<div class='footer'>Cookies and imprint</div></body></html>"
    )
    path = stored(tmp_path, page)
    found = [
        finding
        for finding in html.extract(path, Request(Limits(9), main_content=True))
        if isinstance(finding, Element)
    ]
    text = "\n".join(element.text for element in found)
    assert "day 8 too" in text and "| 1 | 9 l |" in text and "One list item" in text
    assert "Cookies" not in text and "Home" not in text
    assert (Kind.HEADING, 2, "Oil") in [(element.kind, element.level, element.text) for element in found]


# --- Markdown ----------------------------------------------------------------------------------------------

NOTES = """---
title: "Gull Island"
draft: true
---
# The *Tower*

Built in [1871](http://x.org) of
`granite`.

Setext
------
1. bread
   - barley

   more

| Year | Oil |
|------|-----|
| 1871 | **4** |

```python
light()
    wait()
```
<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>
"""


def test_markdown(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, NOTES)
    assert found.opened.title == "Gull Island"
    assert [
        (*kind, element.located.files()[0].lines)
        for kind, element in zip(kinds(found.elements), found.elements, strict=True)
    ] == [
        ("heading", "The Tower", (5, 5)),
        ("paragraph", "Built in 1871 of granite.", (7, 8)),
        ("heading", "Setext", (10, 11)),
        ("list_item", "bread", (12, 12)),
        ("list_item", "barley", (13, 13)),
        ("list_item", "more", (15, 15)),
        ("table", "| Year | Oil |\n| --- | --- |\n| 1871 | 4 |", (17, 17)),
        ("paragraph", "light()\n    wait()", (22, 22)),
        ("table", "| a | b |\n| --- | --- |\n| c | d |", (25, 25)),
    ]
    assert found.headings() == [(1, "The Tower"), (2, "Setext")]
    assert found.place_of("1871 | 4").lines == (19, 19)


def test_the_sturdiest_reading_has_the_words(tmp_path: Path) -> None:
    assert "granite" in read_bytes(tmp_path, NOTES, simply()).text
    assert "grey granite" in read_bytes(tmp_path, PAGE, simply()).text


# --- E-books -----------------------------------------------------------------------------------------------

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>{}</rootfiles></container>'
)
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf"><metadata
 xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Lamps</dc:title></metadata><manifest>
<item id="a" href="one%20.xhtml" media-type="application/xhtml+xml"/>
<item id="p" href="p.jpg" media-type="image/jpeg"/>
<item id="b" href="two.xhtml" media-type="application/xhtml+xml"/>
<item id="c" href="gone.xhtml" media-type="application/xhtml+xml"/></manifest><spine>
<itemref idref="b"/><itemref idref="a"/><itemref idref="p"/><itemref idref="c"/></spine></package>"""


def book(**members: str) -> bytes:
    chapter = '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><body>{}</body></html>'
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER.format('<rootfile full-path="in/book.opf"/>'),
            "in/book.opf": PACKAGE,
            "in/one .xhtml": chapter.format("<h1>One</h1>\n<p>Brass&nbsp;lamp</p>"),
            "in/two.xhtml": chapter.format("<h1>Two</h1><p>Oil</p>"),
            **members,
        }
    )


def test_chapters_come_in_the_order_of_the_spine(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, book())
    assert (found.opened.title, found.opened.units) == ("Lamps", 3)
    assert [element.text for element in found.elements] == ["Two", "Oil", "One", "Brass lamp"]
    assert [unit.source for unit in found.units] == [TextOrigin.TEXT, TextOrigin.TEXT, TextOrigin.UNREADABLE]


def test_single_chapters(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, book(), Request(Limits(9), units=(2,), safe_mode=True))
    assert found.text == "One Brass lamp"


def test_locked_books(tmp_path: Path) -> None:
    locked = (
        '<encryption><EncryptedData><EncryptionMethod Algorithm="urn:shop"/></EncryptedData></encryption>'
    )
    with pytest.raises(Encrypted, match="DRM"):
        read_bytes(tmp_path, book(**{"META-INF/encryption.xml": locked}))


def test_books_without_parts(tmp_path: Path) -> None:
    with pytest.raises(Corrupted):
        read_bytes(tmp_path, zipped({"mimetype": "application/epub+zip", "META-INF/container.xml": "<a/>"}))


def test_a_real_book(shared_data: Path) -> None:
    found = read(shared_data / "robustness" / "unstructured" / "winter-sports.epub")
    assert found.opened.title == "Winter Sports in Switzerland"
    assert len(found.headings()) > 10


# --- What surrounds the content ----------------------------------------------------------------------------

ARTICLE = (
    "<p>The lighthouse on Gull Island was built in 1871 from grey granite, and its lamp burned whale oil at "
    "first, then paraffin; three keepers lived there with their families until 1988.</p>"
)
LINKS = "".join(f"<li><a href='/{n}'>Page number {n}</a></li>" for n in range(5))


@pytest.mark.parametrize(
    "around",
    [
        f"<div class='site-menu'><ul>{LINKS}</ul></div>{{}}",
        f"<header><h1>The Gull</h1><ul>{LINKS}</ul></header>{{}}",
        "<div id='cookie-banner'><p>We use cookies.</p><a href='/c'>Page number of our policy</a></div>{}",
        f"{{}}<h3>Related articles</h3><ul>{LINKS}</ul>",
        f"{{}}<div class='related'>{LINKS}</div>",
        f"{{}}<div role='contentinfo'><ul>{LINKS}</ul></div>",
    ],
)
def test_menus_banners_and_related_pages_are_no_content(tmp_path: Path, around: str) -> None:
    page = f"<html><body>{around.format(f'<h2>Gull Island</h2>{ARTICLE}')}</body></html>"
    found = read_bytes(tmp_path, page)
    content = [one.text for one in found.elements if one.kind is not Kind.PAGE_HEADER]
    assert "Page number" not in " ".join(content)
    assert "Gull Island" in content
    assert "cookies" not in " ".join(content)
    assert "Page number" in found.text


@pytest.mark.parametrize(
    "content",
    [
        f"<h2>Sources</h2><ul>{LINKS}</ul>",
        "<div class='related'><p>" + "A long remark on what is related to it. " * 6 + "</p></div>",
        "<div class='cookie-recipes'><p>"
        + "Bake it for an hour with <a href='/b'>butter</a>. " * 60
        + "</p></div>",
        "<ul><li>Whale oil</li><li>Paraffin</li><li>Batteries</li></ul>",
    ],
)
def test_lists_and_parts_that_only_look_like_menus_stay(tmp_path: Path, content: str) -> None:
    found = read_bytes(tmp_path, f"<html><body><h1>Gull Island</h1>{ARTICLE}{content}</body></html>")
    assert not found.texts(Kind.PAGE_HEADER)


def test_a_page_of_links_is_content(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, f"<html><body><h1>Index</h1><ul>{LINKS}</ul></body></html>")
    assert found.texts(Kind.LIST_ITEM)[0] == "Page number 0"
