"""How fast is each embedding backend, and are its vectors the same? `python -m bench.embedding [PDF …]`

Every backend and precision that can serve a model embeds the same passages of real documents and answers the
same questions, several times in turns, so that a busy moment of the machine touches all of them. Shown are
the medians, their ratio to sentence-transformers, and the cosine to its vectors. Models count tokens of their
own, so words a second compare them; of a text only the part within the window counts.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import django
import numpy as np
import pymupdf
from rich.console import Console
from rich.progress import track
from rich.table import Table

if TYPE_CHECKING:
    from kb.embedding import EmbeddingModel, Vectors

SAMPLES = Path(__file__).resolve().parents[1] / "tests" / "samples"
REFERENCE = "sentence-transformers"
WAYS = ((REFERENCE, "auto"), ("openvino", "f32"), ("openvino", "bf16"), ("openvino", "int8"))
WORDS_PER_PASSAGE = 180
QUESTION_WORDS = 12
QUESTIONS = 40


@dataclass(slots=True)
class Measured:
    """One backend: seconds for all passages and for each question, by round; and its vectors.

    `processor` are the processor's seconds for all passages, by round.
    """

    model: EmbeddingModel
    processor: list[float] = field(default_factory=list)
    passages: list[float] = field(default_factory=list)
    questions: list[float] = field(default_factory=list)
    vectors: Vectors = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))

    def measure(self, texts: Sequence[str], questions: Sequence[str]) -> None:
        """Embed everything once more."""
        start, processor = perf_counter(), process_time()
        self.vectors = self.model.embed_documents(texts)
        self.passages.append(perf_counter() - start)
        self.processor.append(process_time() - processor)
        for question in questions:
            start = perf_counter()
            self.model.embed_query(question)
            self.questions.append(perf_counter() - start)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", default=sorted(SAMPLES.glob("*.pdf")))
    parser.add_argument("--passages", type=int, default=400, help="at most so many")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--models", nargs="+", metavar="NAME", help="by default EMBEDDING_MODEL")
    arguments = parser.parse_args()
    texts = list(islice(passages(arguments.files), arguments.passages))
    if not texts:
        parser.error("these files have no text")
    questions = [" ".join(text.split()[:QUESTION_WORDS]) for text in texts][:QUESTIONS]
    with TemporaryDirectory(prefix="locus-bench-") as folder:
        os.environ["DATA_DIR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "locus.settings")
        django.setup()
        from django.conf import settings

        console = Console(width=140)
        measured = {name: available(console, name) for name in arguments.models or [settings.EMBEDDING_MODEL]}
        for _ in track(range(arguments.rounds), description="Embedding", console=console):
            for of_model in measured.values():
                for one in of_model.values():
                    one.measure(texts, questions)
        for name, of_model in measured.items():
            console.print(table(of_model, texts, f"{name}: {len(texts)} passages"))


def passages(files: Sequence[Path]) -> Iterator[str]:
    """Yield the text of PDFs in passages of whole blocks, about as long as chunks."""
    for file in files:
        passage: list[str] = []
        for block in blocks(file):
            if passage and len(passage) + len(block) > WORDS_PER_PASSAGE:
                yield " ".join(passage)
                passage = []
            passage += block
        if passage:
            yield " ".join(passage)


def blocks(file: Path) -> Iterator[list[str]]:
    """Yield the words of each block of text; nothing of a file that can't be read."""
    try:
        with pymupdf.open(file) as pdf:
            if pdf.needs_pass and not pdf.authenticate(""):
                return
            for page in pdf:
                for block in page.get_text("blocks"):
                    if words := str(block[4]).split():
                        yield words
    except (pymupdf.FileDataError, pymupdf.EmptyFileError):
        return


def available(console: Console, name: str) -> dict[str, Measured]:
    """Load what can serve a model here; say what can't. The first call of each is not measured."""
    from django.core.exceptions import ImproperlyConfigured
    from django.test.utils import override_settings

    from kb.embedding import load

    models = {}
    for backend, precision in WAYS:
        way = backend if backend == REFERENCE else f"{backend}, {precision}"
        try:
            with override_settings(EMBEDDING_PRECISION=precision):
                models[way] = Measured(load(backend, name))
        except ImproperlyConfigured as error:
            console.print(f"{way}: {error}")
            continue
        models[way].model.embed_documents(["The first call pays for the start."] * 64)
        console.print(models[way].model.describe())
    return models


def tokens_read(model: EmbeddingModel, texts: Sequence[str]) -> int:
    """Return how many tokens of the texts a model reads; what is beyond its window costs nothing."""
    return sum(min(count + 2, model.max_tokens) for count in model.count_tokens(texts))


def words_read(model: EmbeddingModel, texts: Sequence[str]) -> float:
    """Return how many words that is: of a text that is cut, in proportion."""
    shares = (min(1.0, model.max_tokens / (count + 2)) for count in model.count_tokens(texts))
    return sum(share * len(text.split()) for share, text in zip(shares, texts, strict=True))


def table(measured: dict[str, Measured], texts: Sequence[str], title: str) -> Table:
    """Return a line for each way."""
    reference = measured[REFERENCE]
    tokens, words = tokens_read(reference.model, texts), words_read(reference.model, texts)
    head = ("backend", "tokens/s", "words/s", "words/core-s", "ratio")
    lines = Table(*head, "ms per question", "ratio", "mean cosine", "least cosine", title=title)
    for name, one in measured.items():
        seconds, question = median(one.passages), median(one.questions)
        cosines = np.sum(one.vectors * reference.vectors, axis=1)
        lines.add_row(
            name,
            f"{tokens / seconds:,.0f}",
            f"{words / seconds:,.0f}",
            f"{words / median(one.processor):,.0f}",
            f"{median(reference.passages) / seconds:.2f}",
            f"{question * 1000:.1f}",
            f"{median(reference.questions) / question:.2f}",
            f"{cosines.mean():.5f}",
            f"{cosines.min():.5f}",
        )
    return lines


if __name__ == "__main__":
    main()
