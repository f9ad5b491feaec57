"""Subtitles: their sentences have the times at which they are shown."""

from __future__ import annotations

from pathlib import Path

import av
import pytest

from extract.base import Element, Limits, Opened, Request, TextOrigin, UnitRead, Warned
from extract.errors import Empty
from extract.media.reader import extract as extract_film
from extract.registry import extract
from tests.testing.paths import SAMPLES

REQUEST = Request(Limits(10))
SRT = """1
00:00:01,000 --> 00:00:03,500
The supply boat did not come

2
00:00:03,500 --> 00:00:05,000
for <i>eleven</i> weeks. Nobody

3
00:01:10,250 --> 00:01:12,000
complained.
"""
VTT = """WEBVTT

NOTE made by hand

00:01.000 --> 00:03.500 align:start
The supply boat did not come

00:03.500 --> 00:05.000
<v Ann>for <i>eleven</i> weeks. Nobody</v>

intro
01:10.250 --> 01:12.000
complained.
"""
ASS = """[Script Info]
ScriptType: v4.00+

[V4+ Styles]
Format: Name, Fontname, Fontsize
Style: Default,Arial,20

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:01.00,0:00:03.50,Default,,0,0,0,,The supply boat did not come
Dialogue: 0,0:00:03.50,0:00:05.00,Default,,0,0,0,,{\\b1}for eleven weeks.{\\b0}\\NNobody
Dialogue: 0,0:01:10.25,0:01:12.00,Default,,0,0,0,,complained.
"""
WANTED = [
    ("The supply boat did not come for eleven weeks.", (1.0, 5.0)),
    ("Nobody", (3.5, 5.0)),
    ("complained.", (70.25, 72.0)),
]


@pytest.mark.parametrize("text", [SRT, VTT, ASS, SRT.replace("\n", "\r\n"), "\ufeff" + SRT])
def test_sentences_have_the_times_of_their_subtitles(text: str, tmp_path: Path) -> None:
    path = tmp_path / "subtitles"
    path.write_text(text, encoding="utf-8", newline="")
    opened, *found, unit = extract(path, REQUEST)
    assert isinstance(opened, Opened)
    assert (opened.file_type, opened.duration) == ("subtitles", None)
    assert [(each.text, each.located.times()) for each in found if isinstance(each, Element)] == WANTED
    assert unit == UnitRead(1, TextOrigin.TEXT)


def test_broken_times_are_no_subtitles(tmp_path: Path) -> None:
    (tmp_path / "a.vtt").write_text("WEBVTT\n\nno times at all\n")
    with pytest.raises(Empty):
        list(extract(tmp_path / "a.vtt", REQUEST))


@pytest.mark.parametrize(("language", "used"), [("eng", True), ("ger", False)])
def test_subtitles_of_a_film_in_its_language_replace_recognition(
    language: str, used: bool, tmp_path: Path
) -> None:
    (tmp_path / "a.srt").write_text(SRT)
    film = tmp_path / "film.mkv"
    with (
        av.open(SAMPLES / "speech.opus") as sound,
        av.open(tmp_path / "a.srt") as shown,
        av.open(film, "w") as container,
    ):
        sources = ((sound, sound.streams.audio[0], "eng"), (shown, shown.streams.subtitles[0], language))
        tracks = [container.add_stream_from_template(track) for _, track, _ in sources]
        for copy, (_, _, name) in zip(tracks, sources, strict=True):
            copy.metadata["language"] = name
        for copy, (source, track, _) in zip(tracks, sources, strict=True):
            for packet in source.demux(track):
                if packet.dts is not None:
                    packet.stream = copy
                    container.mux(packet)
    _, *found = extract_film(film, REQUEST)
    texts = [each.text for each in found if isinstance(each, Element)]
    codes = [each.code for each in found if isinstance(each, Warned)]
    if used:
        assert texts == [text for text, _ in WANTED]
        assert codes == ["subtitles_used"]
    else:
        assert found == [UnitRead(1, TextOrigin.PENDING)]
