"""From the settings to the one resident model of this process."""

from __future__ import annotations

import threading
from functools import cache

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from kb.embedding.base import EmbeddingModel
from kb.embedding.sentence_transformers import gpu_is_present

BACKENDS = {
    "openvino": "kb.embedding.openvino.OpenVinoModel",
    "sentence-transformers": "kb.embedding.sentence_transformers.SentenceTransformersModel",
    "openai": "kb.embedding.openai.OpenAiModel",
    "hashing": "kb.embedding.hashing.HashingModel",
}
AUTO = "auto"
REFERENCE = "sentence-transformers"

_loading = threading.Lock()


def load(backend: str, model: str) -> EmbeddingModel:
    """Load a model; `auto` takes the fastest backend here that serves its weights.

    Raise `ImproperlyConfigured` naming the setting if backend or model is unknown or can't be served.
    """
    if backend == AUTO:
        return _load_fastest(model)
    if backend not in BACKENDS:
        raise ImproperlyConfigured(
            f"EMBEDDING_BACKEND must be one of {', '.join([AUTO, *BACKENDS])}, not “{backend}”."
        )
    factory = import_string(BACKENDS[backend])
    loaded: EmbeddingModel = factory(model)
    return loaded


def embedding_model() -> EmbeddingModel:
    """Return the model the settings name, loaded once per process."""
    with _loading:
        return resident(settings.EMBEDDING_BACKEND, settings.EMBEDDING_MODEL)


@cache
def resident(backend: str, model: str) -> EmbeddingModel:
    """Return a model that stays in memory; callers hold the lock that keeps it from being loaded twice."""
    return load(backend, model)


def _load_fastest(model: str) -> EmbeddingModel:
    if gpu_is_present():
        loaded = load(REFERENCE, model)
        loaded.chosen_because = "chosen by EMBEDDING_BACKEND=auto: there is a GPU"
        return loaded
    try:
        loaded = load("openvino", model)
        loaded.chosen_because = "chosen by EMBEDDING_BACKEND=auto as the fastest on a CPU"
    except ImproperlyConfigured as refusal:
        loaded = load(REFERENCE, model)
        loaded.chosen_because = f"chosen by EMBEDDING_BACKEND=auto because {refusal}"
    return loaded
