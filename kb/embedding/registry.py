"""From the settings to the one resident model of this process."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from kb.embedding.base import EmbeddingModel
from kb.models import EmbeddingSpace

BACKENDS = {
    "sentence-transformers": "kb.embedding.sentence_transformers.SentenceTransformersModel",
    "hashing": "kb.embedding.hashing.HashingModel",
}


def load(backend: str, model: str) -> EmbeddingModel:
    """Load a model; raise `ImproperlyConfigured` naming the setting if the backend or model is unknown."""
    if backend not in BACKENDS:
        raise ImproperlyConfigured(
            f"EMBEDDING_BACKEND must be one of {', '.join(BACKENDS)}, not “{backend}”."
        )
    factory = import_string(BACKENDS[backend])
    loaded: EmbeddingModel = factory(model)
    return loaded


@cache
def embedding_model() -> EmbeddingModel:
    """Return the model the settings name, loaded once per process."""
    return load(settings.EMBEDDING_BACKEND, settings.EMBEDDING_MODEL)


def current_space() -> EmbeddingSpace:
    """Return the embedding space of the model the settings name."""
    model = embedding_model()
    space, _ = EmbeddingSpace.objects.get_or_create(
        model=model.name, revision=model.revision, defaults={"dimensions": model.dimensions}
    )
    if space.dimensions != model.dimensions:
        raise ImproperlyConfigured(
            f"EMBEDDING_MODEL {model.name} yields {model.dimensions} dimensions, "
            f"but its stored vectors have {space.dimensions}."
        )
    return space
