"""From the settings to the one resident reranker of this process."""

from __future__ import annotations

import logging
import threading
from functools import cache

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from kb.embedding import embedding_model
from kb.embedding.calibration import calibration_of, knows_english_alone
from search.rerank.any_language import AnyLanguage
from search.rerank.base import Reranker
from search.rerank.by_language import ByLanguage
from search.rerank.late_interaction import LateInteraction
from search.rerank.ms_marco import ms_marco

RERANKERS = {
    "ms-marco": "search.rerank.ms_marco.ms_marco",
    "late-interaction": "search.rerank.late_interaction.LateInteraction",
    "cross-encoder": "search.rerank.cross_encoder.CrossEncoderReranker",
    "endpoint": "search.rerank.endpoint.EndpointReranker",
    "llm": "search.rerank.llm.LlmReranker",
    "overlap": "search.rerank.overlap.OverlapReranker",
}
AUTO = "auto"
NONE = "none"

logger = logging.getLogger(__name__)
_loading = threading.Lock()


def load(name: str, model: str) -> Reranker | None:
    """Load a reranker; None for `none`. `auto` is the packaged one for English, and another one elsewhere.

    Raise `ImproperlyConfigured` naming the setting if it is unknown or can't be served.
    """
    if name == AUTO:
        late = LateInteraction() if _late_interaction_helps() else None
        needs_other_model = settings.MULTILINGUAL_MODEL and knows_english_alone(embedding_model().name)
        return ByLanguage(ms_marco(), AnyLanguage() if needs_other_model else late, late)
    if name == NONE:
        return None
    if name not in RERANKERS:
        raise ImproperlyConfigured(
            f"RERANKER must be one of {', '.join([AUTO, NONE, *RERANKERS])}, not “{name}”."
        )
    loaded: Reranker = import_string(RERANKERS[name])(model)
    return loaded


def reranker(name: str | None = None) -> Reranker | None:
    """Return the reranker the settings name, loaded once per process; None if nothing is to be reranked.

    A search may ask by `name` for another of `offered_rerankers()`.
    """
    chosen = settings.RERANKER if name is None else name
    with _loading:
        return resident(chosen, settings.RERANKER_MODEL if chosen == settings.RERANKER else "")


def offered_rerankers() -> list[str]:
    """Return what a search may ask for: what needs no weights besides those loaded at the start."""
    return list(dict.fromkeys([AUTO, settings.RERANKER, NONE]))


def budget_secs(chosen: Reranker) -> float:
    """Return how long a search waits for a reranker."""
    return settings.RERANKER_BUDGET_MS / 1000 or chosen.budget_secs


def start() -> str:
    """Load the reranker; return the line to report. For every process that searches, at its start.

    Raise `ImproperlyConfigured` if the settings can't be served.
    """
    report = _report(reranker())
    logger.info(report)
    return report


@cache
def resident(name: str, model: str) -> Reranker | None:
    """Return the one reranker of these settings in this process."""
    return load(name, model)


def _late_interaction_helps() -> bool:
    model = embedding_model()
    return model.has_token_vectors and calibration_of(model.name).late_interaction


def _report(chosen: Reranker | None) -> str:
    if chosen is None:
        return "Not reranking, because RERANKER is none."
    return f"Reranking with {chosen.describe()}, for at most {budget_secs(chosen) * 1000:.0f} ms."
