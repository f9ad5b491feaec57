"""Text of strangers is worked on where it can be timed out: one answer may fail, nobody else waits for it."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from pytest_django import Settings

from core.errors import Timeout
from kb.embedding.calibration import MINILM
from search.citations.resolve import assemble, resolve
from search.citations.verifying import verify_with_deadline
from search.generation.base import Choice, GenerationRequest, GenerationUsage
from search.generation.extractive import ExtractiveGenerator, extract
from search.generation.extractive.reading import ModelReading
from search.text_processes import TextProcesses, text_processes
from tests.search.citations.test_resolve import without_meaning
from tests.search.contexts import context
from tests.testing.payments import UNRECORDED

TEA = context(1, "Roses are red and rare.", "Tea roses smell of tea.")
RAW = "Tea roses smell of tea <source_1>. Nobody knows <source_7>."


@pytest.fixture(scope="module")
def one() -> Iterator[TextProcesses]:
    processes = TextProcesses(1)
    yield processes
    processes.stop()


def verify(processes: TextProcesses, raw: str) -> Any:
    return assemble(
        raw, processes.run("verify", raw, [TEA.portable()], "What?", MINILM, 0, embed=without_meaning)
    )


def test_the_same_comes_of_it_as_in_this_process(settings: Settings) -> None:
    settings.ANSWER_TEXT_SECS = 60.0
    assert verify_with_deadline(RAW, [TEA], "What?", MINILM, without_meaning) == resolve(
        RAW, [TEA], "What?", MINILM, without_meaning
    )
    said = "The flowers have a scent like a hot drink <source_1>."
    assert verify_with_deadline(said, [TEA], "What?", MINILM, without_meaning) == resolve(
        said, [TEA], "What?", MINILM, without_meaning
    )


def test_extracts_are_those_of_this_process(settings: Settings) -> None:
    settings.ANSWER_TEXT_SECS = 60.0
    asked = GenerationRequest("What do tea roses smell of?", [TEA], reflection=True)

    async def pieces() -> list[str | GenerationUsage]:
        return [piece async for piece in ExtractiveGenerator(Choice("extractive")).answer(asked, UNRECORDED)]

    *told, spent = asyncio.run(pieces())
    assert told == extract(asked, ModelReading(asked.question))
    assert "smell of tea" in str(told[-1])
    assert isinstance(spent, GenerationUsage)


def test_what_takes_too_long_is_ended_and_the_next_goes_on(one: TextProcesses, settings: Settings) -> None:
    """A text that took hours held the whole web process: now its process is killed and replaced."""
    settings.ANSWER_TEXT_SECS = 60.0
    assert verify(one, RAW).removed == 1
    stopped = running(one)
    os.kill(stopped, signal.SIGSTOP)
    settings.ANSWER_TEXT_SECS = 0.3
    begun = time.monotonic()
    with pytest.raises(Timeout) as caught:
        verify(one, RAW)
    assert time.monotonic() - begun < 20
    assert caught.value.code == "timeout"
    settings.ANSWER_TEXT_SECS = 60.0
    assert verify(one, RAW).removed == 1
    assert running(one) != stopped


def test_a_child_that_died_while_idle_is_replaced(one: TextProcesses, settings: Settings) -> None:
    settings.ANSWER_TEXT_SECS = 60.0
    verify(one, RAW)
    os.kill(running(one), signal.SIGKILL)
    assert verify(one, RAW).removed == 1


def test_a_model_that_can_not_embed_fails_one_answer(one: TextProcesses, settings: Settings) -> None:
    settings.ANSWER_TEXT_SECS = 60.0

    def broken(texts: Sequence[str]) -> Any:
        raise LookupError("no model")

    other_words = "Flowers have a scent like hot drinks do <source_1>."
    verify(one, RAW)
    before = running(one)
    with pytest.raises(LookupError):
        one.run("verify", other_words, [TEA.portable()], "What?", MINILM, 0, embed=broken)
    assert verify(one, RAW).removed == 1
    assert running(one) == before


def test_a_task_that_fails_says_why(one: TextProcesses, settings: Settings) -> None:
    settings.ANSWER_TEXT_SECS = 60.0
    with pytest.raises(RuntimeError, match="TypeError"):
        one.run("verify", None, [TEA.portable()], "What?", MINILM, 0, embed=without_meaning)


def test_citations_that_can_not_be_checked_in_time_are_left_out_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An answer whose citations could not be verified ends all the same, without any of them."""

    def late(*_: object, **__: object) -> None:
        raise Timeout

    monkeypatch.setattr(text_processes, "run", late)
    checked = verify_with_deadline(RAW, [TEA], "What?", MINILM, without_meaning)
    assert checked.response == "Tea roses smell of tea. Nobody knows."
    assert (checked.removed, checked.sources_used) == (2, [])
    assert {verdict.outcome for verdict in checked.verdicts} == {"unchecked"}


def running(processes: TextProcesses) -> int:
    """Return the process of the only child, which is idle."""
    child = processes._idle.get()
    processes._idle.put(child)
    assert child
    return child.pid
