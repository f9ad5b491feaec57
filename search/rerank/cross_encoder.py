"""Any cross-encoder of sentence-transformers, by name or folder: reads question and passage together."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from core.llm.payment import NoCharge, Payment
from search.rerank.base import Reranker


class CrossEncoderReranker(Reranker):
    """A model from the hub or a local folder, on a GPU where torch finds one."""

    passages = 16
    budget_secs = 2.0
    passages_per_step = 4

    def __init__(self, model: str) -> None:
        """Load; raise `ImproperlyConfigured` naming RERANKER_MODEL if that can't be done."""
        if not model:
            raise ImproperlyConfigured(
                "RERANKER cross-encoder needs RERANKER_MODEL: a folder, or a name on the model hub."
            )
        path = Path(model).expanduser()
        if not path.is_dir() and (path.is_absolute() or model.startswith((".", "~"))):
            raise ImproperlyConfigured(f"RERANKER_MODEL “{model}” is not a folder.")
        # Importing takes seconds and half a gigabyte: only who wants it should pay for it.
        import torch
        from sentence_transformers import CrossEncoder
        from transformers.utils import logging as transformers_logging

        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            self._model = CrossEncoder(
                str(path) if path.is_dir() else model,
                # Without the activation scores would crowd at 0 and 1.
                activation_fn=torch.nn.Identity(),
                # Half precision, in which many models are stored, is slow on a CPU.
                model_kwargs={"dtype": "auto" if torch.cuda.is_available() else "float32"},
            )
        except (OSError, ValueError) as error:
            raise ImproperlyConfigured(f"RERANKER_MODEL “{model}” can't be loaded: {error}") from error
        if self._model.num_labels != 1:
            raise ImproperlyConfigured(
                f"RERANKER_MODEL “{model}” has {self._model.num_labels} labels; a reranker has one."
            )
        self._lock = threading.Lock()
        self.name = model
        # What can't score should fail now, and the first question should not wait for kernels.
        self.score("What?", ["That."], within=0, payment=NoCharge("the check at the start"))

    def score(
        self, question: str, passages: Sequence[str], *, within: float, payment: Payment
    ) -> Sequence[float]:
        """Return the model's logits; it cuts pairs that are too long for it."""
        pairs = [(question, passage) for passage in passages]
        with self._lock:
            scores = self._model.predict(pairs, batch_size=len(pairs), show_progress_bar=False)
        return [float(score) for score in scores]

    def describe(self) -> str:
        """Return the model and where it runs."""
        return f"cross-encoder {self.name} on {self._model.device}"
