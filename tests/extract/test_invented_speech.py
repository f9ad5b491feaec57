"""What a speech model has probably invented is no text, whatever the script."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from extract.media.languages import SpokenPassage
from extract.media.speech import believed_segments, least_log_probability

RUSSIAN = (
    "Нажмите 1, чтобы включить или выключить свой микрофон, 2, чтобы заблокировать или разблокировать "
    "конференцию, 3, чтобы удалить из конференции последнего, 4 или 6 для уменьшения или увеличения уровня "
    "громкости звука, 5, чтобы расширить конференцию, 7 или 9 для уменьшения или увеличения громкости вашего "
    "голоса, или 8 для выхода из конференции."
)


@dataclass
class Heard:
    """What the model says about some seconds of sound."""

    text: str
    start: float = 0.0
    end: float = 25.0
    avg_logprob: float = -0.2
    seek: int = 0


def believed(*heard: Heard, least: float = -0.6) -> list[str]:
    return [each.text for each in believed_segments(heard, least)]


def test_clear_speech_in_any_script() -> None:
    assert believed(Heard(RUSSIAN)) == [RUSSIAN]
    assert believed(Heard("この町は大きな川のそばにあります。", end=5)) == [
        "この町は大きな川のそばにあります。"
    ]


@pytest.mark.parametrize("word", [" Chinese later,", " ค่ะ", " по воде", " 谢谢观看"])
def test_texts_that_go_in_circles(word: str) -> None:
    assert believed(Heard(word * 40)) == []
    parts = [Heard(word * 10, start=5.0 * at, end=5.0 * at + 5) for at in range(5)]
    assert believed(*parts) == []


def test_the_same_words_again_and_again() -> None:
    again = [Heard("Thank you.", start=30.0 * at, end=30.0 * at + 1, seek=3000 * at) for at in range(4)]
    assert believed(*again[:3]) == ["Thank you."] * 3
    assert believed(*again) == []


def test_more_words_than_anybody_says_in_the_time() -> None:
    text = "The keeper told the other keepers what the wind had done to the lamp."
    assert believed(Heard(text, end=4)) == [text]
    assert believed(Heard(text, end=0.8)) == []


def test_how_sure_the_model_must_be() -> None:
    def least(language: str, probability: float) -> float:
        return least_log_probability(SpokenPassage(0, 1, language, probability, 1.0))

    assert believed(Heard("Est-ce qu'elle pourpante", avg_logprob=-0.82), least=least("fr", 0.6)) == []
    assert believed(Heard("Dans ce mode", avg_logprob=-0.55), least=least("fr", 0.9)) == ["Dans ce mode"]
    assert believed(Heard("Dans ce mode", avg_logprob=-0.55), least=least("fr", 0.4)) == []
    assert believed(Heard("Ask not", avg_logprob=-0.9), least=least("en", 0.9)) == ["Ask not"]
    assert believed(Heard("Ask not", avg_logprob=-0.9), least=least("en", 0.4)) == []
