"""From the settings to the one resident model of this process."""

from __future__ import annotations

import threading
from functools import cache

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from kb.embedding.base import EmbeddingModel
from kb.embedding.calibration import knows_english_alone
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
_loading_multilingual = threading.Lock()
"""Unpacking takes a quarter of a minute, once: what needs the other model must not wait for it."""


def load(backend: str, model: str) -> EmbeddingModel:
    """Load a model; `auto` takes the fastest backend on this machine that serves its weights.

    Raises `ImproperlyConfigured` with the setting's name if backend or model is unknown or can't be served.
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
    """Return the model of the settings, loaded once per process."""
    with _loading:
        return resident(settings.EMBEDDING_BACKEND, settings.EMBEDDING_MODEL)


def multilingual_model() -> EmbeddingModel:
    """Return the model that compares texts which are not all in English, loaded when first asked for.

    It is the one that embeds, unless that knows English alone.
    """
    model = embedding_model()
    if not settings.MULTILINGUAL_MODEL or not knows_english_alone(model.name):
        return model
    with _loading_multilingual:
        try:
            return resident(AUTO, settings.MULTILINGUAL_MODEL)
        except ImproperlyConfigured as refusal:
            raise ImproperlyConfigured(f"MULTILINGUAL_MODEL can't be loaded: {refusal}") from refusal


@cache
def resident(backend: str, model: str) -> EmbeddingModel:
    """Return a model that stays in memory; the caller's lock must prevent loading it twice."""
    return load(backend, model)


def _load_fastest(model: str) -> EmbeddingModel:
    if gpu_is_present():
        loaded = load(REFERENCE, model)
        loaded.choice_reason = "chosen by EMBEDDING_BACKEND=auto: there is a GPU"
        return loaded
    try:
        loaded = load("openvino", model)
        loaded.choice_reason = "chosen by EMBEDDING_BACKEND=auto as the fastest on a CPU"
    except ImproperlyConfigured as refusal:
        loaded = load(REFERENCE, model)
        loaded.choice_reason = f"chosen by EMBEDDING_BACKEND=auto because {refusal}"
    return loaded
