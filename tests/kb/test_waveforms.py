"""Waveforms: how loud recordings are, measured in a confined process and kept."""

from __future__ import annotations

import io
import math
import struct
import wave
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from kb.documents import page_cache
from kb.models import Document
from kb.page_images import sound
from tests.conftest import Cast
from tests.factories import indexed_document, stored_document

pytestmark = pytest.mark.django_db

RATE = 4000
SECS = 4


def tone_in_the_middle() -> bytes:
    """Return four seconds of sound, silent but for the third."""
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        loud = (2 * RATE <= i < 3 * RATE for i in range(SECS * RATE))
        samples = (
            int(20_000 * math.sin(i * 440 * math.tau / RATE)) if is_loud else 0
            for i, is_loud in enumerate(loud)
        )
        file.writeframes(b"".join(struct.pack("<h", sample) for sample in samples))
    return written.getvalue()


def recorded(cast: Cast, content: bytes) -> Document:
    """Return a stored recording."""
    kind = {"file_type": "wav", "mime_type": "audio/wav", "duration": float(SECS)}
    return stored_document(cast.team, "tone.wav", content, **kind)


def waveform(cast: Cast, document: Document, who: str = "alice", **headers: str) -> Any:
    """Return what the address of the waveform answers."""
    return Client().get(f"/api/v1/documents/{document.pk}/waveform", headers=cast.headers(who, **headers))


def check_third_second(peaks: list[int]) -> None:
    """Check that the third of four seconds is loud, and the rest silent."""
    assert len(peaks) == sound.PEAKS
    assert max(peaks) == 100
    assert min(peaks[510:740]) > 80
    assert max(peaks[:490] + peaks[760:]) < 10


def test_what_is_loud_is_high(cast: Cast) -> None:
    document = recorded(cast, tone_in_the_middle())
    answer = waveform(cast, document)
    assert answer.json()["duration"] == SECS
    check_third_second(answer.json()["peaks"])
    assert (page_cache(document) / "waveform.json").exists()
    assert waveform(cast, document, **{"If-None-Match": answer["ETag"]}).status_code == 304


def test_a_long_recording_is_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound, "FULLY_READ_SECS", 1.0)
    file = tmp_path / "tone.wav"
    file.write_bytes(tone_in_the_middle())
    peaks = sound.peaks_of(file)
    assert len(peaks) == sound.PEAKS
    assert min(peaks[520:720]) > 80
    assert max(peaks[:400] + peaks[800:]) < 10


def test_what_has_no_sound(cast: Cast) -> None:
    assert waveform(cast, indexed_document(cast.team)).status_code == 404
    broken = waveform(cast, recorded(cast, b"RIFF nothing"))
    assert broken.status_code == 400
    assert broken.json()["error"]["code"] == "validation_error"


def test_only_what_is_visible(cast: Cast) -> None:
    assert waveform(cast, recorded(cast, tone_in_the_middle()), "charlie").status_code == 404
