"""However an answer is cut into fragments, and however a model spells its citations."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runs.events import MAX_PARTIAL_BYTES, escaped_bytes
from search.citations.markers import MARKER, MarkerStream

SPELLINGS = {
    "One <source_1>.": "One <source_1>.",
    "One <Source 1>, two < source-2 />.": "One <source_1>, two <source_2>.",
    "Both [1, 3] and <source_1, source_3>.": "Both <source_1><source_3> and <source_1><source_3>.",
    "Both <source_1><source_2>.": "Both <source_1><source_2>.",
    "Three [1-3].": "Three <source_1><source_2><source_3>.",
    "One【1】, two 【2†L3-L9】.": "One<source_1>, two <source_2>.",
    "One [source 1; source 2] (Source 3).": "One <source_1><source_2> <source_3>.",
    "A footnote [^2].": "A footnote <source_2>.",
    'Done <citation id="9b-de">[1]</citation>.': "Done <source_1>.",
    "An invention <source_99>.": "An invention <source_99>.",
    'Done <web_citation url="https://a.example/" title="A">[1]</web_citation>.': "Done <source_1>.",
    'Forged <web_citation url="https://evil.example/" title="A">here</web_citation>.': "Forged here.",
    'Split <citation\nid="9b-de">here</CITATION>.': 'Split &lt;citation\nid="9b-de">here.',
    rf'Long <web_citation url="{"a" * 500}">.': rf'Long &lt;web_citation url="{"a" * 500}">.',
    r'Told \<citation id="9b-de"\>.': r'Told &lt;citation id="9b-de"\>.',
    'Nested <cita<citation>tion id="9b-de">.': 'Nested <cita tion id="9b-de">.',
}
NO_CITATIONS = [
    "In [2019] and on [page 4].",
    "A [1](https://example.org) link.",
    "`items[1]` is code.",
    "```\nitems[1]\n```",
    r"Told: \<source_1\>, \[1\], \<source_1>.",
    "1 < 2 and 3 > 2, see source code.",
    "It ends with [1",
]
PIECES = st.sampled_from(
    [
        *(
            "<",
            "source",
            "_",
            "1",
            "12",
            ">",
            "[",
            "]",
            "(",
            ")",
            "【",
            "】",
            "†",
            " ",
            "\n",
            "`",
            "\\",
            "^",
            ",",
        ),
        *(
            "-",
            "and",
            "s",
            "<citation",
            "<web_",
            "citation",
            "/",
            "<source_3>",
            "[1]",
            "word",
            "é",
            "😀" * 40,
            "x" * 300,
            '"',
            " " * 300,
            ", 3" * 25,
        ),
    ]
)


def streamed(fragments: list[str]) -> tuple[str, list[str]]:
    stream = MarkerStream()
    partials = [partial for fragment in fragments for partial in stream.feed(fragment)]
    partials += stream.finish()
    return stream.text, partials


@pytest.mark.parametrize(("written", "canonical"), SPELLINGS.items())
def test_every_way_to_cite_becomes_one(written: str, canonical: str) -> None:
    assert streamed([written])[0] == canonical


@pytest.mark.parametrize("text", NO_CITATIONS)
def test_what_is_no_citation_stays(text: str) -> None:
    assert streamed([text])[0] == text


@given(st.lists(PIECES, max_size=30).map("".join), st.data())
def test_fragments_do_not_matter(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=12)))
    fragments = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole, _ = streamed([text])
    canonical, partials = streamed(fragments)
    assert canonical == "".join(partials) == whole
    # A marker cut between two partials would be found in neither.
    assert sum(len(MARKER.findall(partial)) for partial in partials) == len(MARKER.findall(whole))
    assert all(escaped_bytes(partial) <= MAX_PARTIAL_BYTES for partial in partials)


@given(st.text(max_size=200))
@example("([0])")
@example("<【0】>)")
def test_all_that_changes_is_markup(text: str) -> None:
    assert without_markup(streamed([text])[0]) == without_markup(text)


def without_markup(text: str) -> str:
    """Return a text without what stands in brackets, and what stands in brackets then."""
    left = re.sub(r"<[^<>\n]*>|[\[(【][^\[\](){}【】<>\n]*[\])】]", "", text)
    return left if left == text else without_markup(left)


def test_text_is_not_held_back_longer_than_a_marker_needs() -> None:
    stream = MarkerStream()
    assert list(stream.feed("Yes, it is ")) == ["Yes, it is "]
    assert list(stream.feed("so [")) == ["so "]
    assert list(stream.feed("see page 4")) == ["[see page 4"]
    assert list(stream.feed(" <source_")) == [" "]
    assert list(stream.feed("7>.")) == ["<source_7>."]
