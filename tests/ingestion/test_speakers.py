"""Who speaks, told by voices alone: `SPEAKER_TURNS`."""

from __future__ import annotations

import io
import wave
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from pytest_django import Settings

from core.locations import InTime, LocatedText
from extract.base import Element, Kind, Voice
from extract.media.languages import RATE, Samples
from extract.media.sentences import SILENCE
from extract.media.sound import recording
from ingestion import pipeline
from ingestion.speakers.turns import MOST_GROUPED, speakers_of, with_speakers
from kb.models import Chunk, Status
from tests.ingestion.conftest import Upload
from tests.testing.paths import SAMPLES

ANNA, BERT = (1.0, 0.0, 0.1), (0.0, 1.0, 0.1)


def said(start: float, secs: float, voice: Voice = (), speaker: str | None = None) -> Element:
    located = LocatedText.of_words([("word", InTime(start, start + secs))])
    return Element(Kind.PARAGRAPH, located, voice=voice, speaker=speaker)


def speakers(elements: Sequence[Element]) -> list[str | None]:
    return [element.speaker for element in with_speakers(elements)]


def test_speakers_are_counted_as_they_are_heard() -> None:
    turns = [said(0, 3, BERT), said(4, 3, ANNA), said(8, 3, BERT)]
    assert speakers(turns) == ["speaker 1", "speaker 2", "speaker 1"]


def test_one_voice_is_not_named() -> None:
    assert speakers([said(0, 3, ANNA), said(4, 3, ANNA)]) == [None, None]


def test_a_word_too_short_to_have_a_voice_belongs_to_the_turn_it_stands_in() -> None:
    turns = [said(0, 0.3), said(1, 3, ANNA), said(4, 0.3), said(5, 3, BERT), said(9, 0.3)]
    assert speakers(turns) == ["speaker 1", "speaker 1", "speaker 1", "speaker 2", "speaker 2"]


def test_a_short_sentence_goes_to_the_nearest_voice_and_a_cough_is_nobody() -> None:
    cough = (0.0, 0.0, 1.0)
    turns = [said(0, 3, ANNA), said(4, 3, BERT), said(8, 0.8, (0.7, 0.3, 0.1)), said(10, 1.6, cough)]
    assert set(speakers(turns)) == {"speaker 1", "speaker 2"}
    assert speakers(turns)[2] == "speaker 1"


def test_what_channels_tell_is_kept() -> None:
    call = said(8, 3, speaker="channel 2")
    assert speakers([said(0, 3, ANNA), call, said(4, 3, BERT)]) == ["speaker 1", "channel 2", "speaker 2"]


def test_a_day_of_talk_is_grouped_in_bounded_memory() -> None:
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 3, 3 * MOST_GROUPED)
    voices = np.eye(3)[truth] + generator.normal(0, 0.05, (len(truth), 3))
    voices /= np.linalg.norm(voices, axis=1, keepdims=True)
    found = speakers_of(voices, generator.uniform(1.6, 8, len(truth)))
    assert len({*zip(truth, found, strict=True)}) == 3


def samples_of(path: Path) -> Samples:
    with recording(path) as opened:
        return np.concatenate(list(opened.samples()))


def lowered(samples: Samples) -> Samples:
    """Return the same words in a deeper voice, a fifth slower."""
    times = np.arange(0, len(samples), 1 / 1.25)
    deeper: Samples = np.interp(times, np.arange(len(samples)), samples).astype(np.float32)
    return deeper


def wav_of(parts: Sequence[Samples], *, pause_secs: float = 1.0) -> bytes:
    pause = np.zeros(int(pause_secs * RATE), np.float32)
    sound = np.concatenate([each for part in parts for each in (part, pause)])
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((1, 2, RATE, 0, "NONE", ""))
        out.writeframes((np.clip(sound, -1, 1) * 32767).astype("<i2").tobytes())
    return file.getvalue()


def turns_of(document_id: object) -> list[tuple[str, str | None]]:
    """Return the text of each turn of a document, and who says it."""
    return [
        (chunk.text[bounds[0] : bounds[1]], bounds[5] if len(bounds) > 5 else None)
        for chunk in Chunk.unscoped.filter(document_id=document_id, replaced_by=None).order_by("ordinal")
        for bounds in chunk.elements
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("is_asked", [True, False])
def test_two_voices_on_one_channel_are_told_apart(
    upload: Upload, settings: Settings, *, is_asked: bool
) -> None:
    settings.SPEAKER_TURNS = is_asked
    speech = samples_of(SAMPLES / "speech.opus")
    first, second = speech[: 4 * RATE], speech[6 * RATE :]
    document = upload("call.wav", wav_of([first, lowered(second), lowered(first), second]))
    pipeline.ingest(document.pk)
    document.refresh_from_db()
    assert document.status == Status.READY
    found = [speaker for _, speaker in turns_of(document.pk)]
    assert found == (["speaker 1", "speaker 2", "speaker 2", "speaker 1"] if is_asked else [None] * 4)


@pytest.mark.django_db
def test_three_people_who_take_turns(upload: Upload, settings: Settings, shared_data: Path) -> None:
    settings.SPEAKER_TURNS = True
    files = ["LJ001-0001.wav", "jfk.flac", "sonnet001.mp3", "LJ001-0003.wav", "jfk.flac"]
    turns = [samples_of(shared_data / "audio" / name)[: 20 * RATE] for name in files]
    # A silence that ends a sentence: without one, some CPUs hear the last two as one sentence.
    document = upload("talk.wav", wav_of(turns, pause_secs=SILENCE + 0.5))
    pipeline.ingest(document.pk)
    who = {"Printing": "LJ", "impressions": "LJ", "Americans": "jfk", "fairest": "sonnet"}
    said_by = [
        (who[word], speaker) for text, speaker in turns_of(document.pk) for word in who if word in text
    ]
    assert said_by == [
        ("LJ", "speaker 1"),
        ("jfk", "speaker 2"),
        ("sonnet", "speaker 3"),
        ("LJ", "speaker 1"),
        ("jfk", "speaker 2"),
    ]
