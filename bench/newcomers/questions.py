"""The questions of a newcomer, with their answers, about files of a folder of samples."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

QUESTIONS = Path(__file__).with_name("questions.jsonl")
"""Beside it, `report_questions.jsonl` asks for figures of reports by fiscal year and quarter, and
`formula_questions.jsonl` for formulas in words, and about papers and printed web pages, and
`note_questions.jsonl` for figures of notes to statements. `text_questions.jsonl` asks for names, dates,
reasons and changes, mostly told in sentences, `small_file_questions.jsonl` about files of a few pages, and
`sample_questions.jsonl` about samples of all kinds, by six authors who did not know the answerer. In
`everyday/` stand letters, forms, recipes and the like, in five languages, with questions of their own; in
`*unanswered.jsonl` questions that the files do not answer."""


@dataclass(frozen=True, slots=True)
class NewcomerQuestion:
    """A question, its accepted answers, and where they stand; without any it should be refused.

    `file` is relative to the folder of samples; behind “#” it names a passage of a file of passages.
    """

    lang: str
    kind: str
    file: str
    question: str
    answers: tuple[str, ...]
    page: int | None = None
    time: tuple[float, float] | None = None
    """From when to when it is said, in seconds."""
    alone: bool = True
    """Whether only its file is open, or all are."""

    @property
    def is_held_out(self) -> bool:
        """Whether it belongs to the half that nothing is fitted to."""
        return int(sha256(f"{self.question}{self.file}".encode()).hexdigest(), 16) % 2 == 1


def newcomer_questions(place: Path = QUESTIONS) -> list[NewcomerQuestion]:
    """Return all questions of a file."""
    rows = [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines()]
    return [NewcomerQuestion(**{**row, "answers": tuple(row["answers"])}) for row in rows]
