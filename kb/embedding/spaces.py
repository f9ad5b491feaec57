"""Embedding spaces: the one that is searched, the one that the settings want, and the model of each.

The active space is searched and filled. When the settings name another model, its space is the wanted one. It
is filled next to the active one and replaces it once no live chunk lacks a vector (`kb.reembedding.filling`).
Until then searches use the active space and its model.

If the active space's model knows English alone, there may be one more, the multilingual space. It is searched
for what is not in English, and filled after all else (`kb.reembedding.multilingual`).
"""

from __future__ import annotations

import logging
import threading
import time

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction

from core.row_access import as_system
from kb.embedding import queue
from kb.embedding.base import EmbeddingModel
from kb.embedding.calibration import knows_english_alone
from kb.embedding.hashing import NAME as HASHING_NAME
from kb.embedding.openai import REVISION as ENDPOINT_REVISION
from kb.embedding.registry import AUTO, embedding_model, multilingual_model, resident
from kb.models import ChunkVector, EmbeddingSpace

logger = logging.getLogger(__name__)
# A model that can't be loaded is not tried again for every question.
RETRY_AFTER_SECS = 60.0

_loading = threading.Lock()
_failures: dict[tuple[str, str], tuple[float, str]] = {}


class ModelUnavailable(ImproperlyConfigured):
    """The model of a stored space can't be loaded any more; the message says why."""


def active_space() -> EmbeddingSpace:
    """Return the searched space, by one cheap query. The first start makes the wanted space active."""
    return EmbeddingSpace.objects.filter(is_active=True).first() or _first_active_space()


def wanted_space() -> EmbeddingSpace:
    """Return the space of the model in the settings.

    Raises `ImproperlyConfigured` if the vectors stored under its name and revision have another dimension.
    """
    model = embedding_model()
    space = _space_of(model)
    if space.dimensions != model.dimensions:
        raise ImproperlyConfigured(
            f"EMBEDDING_MODEL {model.name} (revision {model.revision}) yields {model.dimensions} dimensions, "
            f"but its stored vectors have {space.dimensions}."
        )
    return space


def needs_multilingual_space() -> bool:
    """Return whether the settings want one: the model that is searched with knows English alone."""
    wanted = settings.MULTILINGUAL_VECTORS and settings.MULTILINGUAL_MODEL
    return bool(wanted) and knows_english_alone(active_space().model)


def multilingual_space() -> EmbeddingSpace | None:
    """Return the space in which texts that are not in English are compared; None if there is none.

    The chunks of the newest documents may lack a vector in it.
    """
    if not needs_multilingual_space():
        return None
    stored = EmbeddingSpace.objects.filter(model=settings.MULTILINGUAL_MODEL, is_active=False)
    return stored.order_by("-created_at", "-pk").first()


def new_multilingual_space() -> EmbeddingSpace | None:
    """Return the same of the weights that are there now, made if need be: the model is loaded for it."""
    return _space_of(multilingual_model()) if needs_multilingual_space() else None


def spaces_to_fill() -> list[EmbeddingSpace]:
    """Return the spaces in which new chunks need vectors, the searched one first.

    Call it again for each batch: the active space may change meanwhile. An active space whose model can't be
    loaded is left out; the wanted one will replace it.
    """
    active, wanted = active_space(), wanted_space()
    if wanted == active:
        return [active]
    spaces = [active] if can_embed(active) else []
    return spaces if queue.was_cancelled(wanted) else [*spaces, wanted]


def model_of(space: EmbeddingSpace) -> EmbeddingModel:
    """Return the model of a space, loaded once per process; raise `ModelUnavailable` if that fails."""
    wanted = embedding_model()
    if _is_of(space, wanted):
        return wanted
    if space.model == settings.MULTILINGUAL_MODEL and _is_of(space, other := _multilingual_model()):
        return other
    with _loading:
        return _former_model(space)


def can_embed(space: EmbeddingSpace) -> bool:
    """Return whether the model of a space can be loaded."""
    try:
        model_of(space)
    except ModelUnavailable:
        return False
    return True


def start() -> str:
    """Load the models, and queue re-embedding if the settings name another model; return a line to report.

    Every process that embeds calls this at its start. Raises `ImproperlyConfigured` if the settings can't be
    served.
    """
    model, wanted, active = embedding_model(), wanted_space(), active_space()
    report = f"Embedding with {model.describe()}."
    if wanted != active:
        report += f" {_transition(active, wanted)}"
    logger.info(report)
    return report


def _space_of(model: EmbeddingModel) -> EmbeddingSpace:
    space, _ = EmbeddingSpace.objects.get_or_create(
        model=model.name, revision=model.revision, defaults={"dimensions": model.dimensions}
    )
    return space


def _transition(active: EmbeddingSpace, wanted: EmbeddingSpace) -> str:
    try:
        model_of(active)
        now = f"Search goes on with {active}"
    except ModelUnavailable as error:
        now = f"Search finds by words only until then: {error}"
    if queue.was_cancelled(wanted):
        return f"{now}: {wanted} was cancelled, “manage.py reembed” resumes it."
    queue.enqueue(wanted)
    return f"{now} while the documents are embedded again for {wanted}."


@as_system("a space is filled if anybody's chunks have vectors in it")
def _first_active_space() -> EmbeddingSpace:
    """Choose an active space if there is none: the wanted one, unless only another one holds vectors."""
    space = wanted_space()
    with transaction.atomic():
        # Of two processes that start together, one waits here and then finds the choice made.
        spaces = list(EmbeddingSpace.objects.select_for_update().order_by("-created_at", "-pk"))
        chosen = next((s for s in spaces if s.is_active), None)
        if chosen is None:
            filled = [s for s in spaces if ChunkVector.objects.filter(space=s).exists()]
            chosen = space if space in filled or not filled else filled[0]
            EmbeddingSpace.objects.filter(pk=chosen.pk).update(is_active=True)
            chosen.is_active = True
    return chosen


def _is_of(space: EmbeddingSpace, model: EmbeddingModel) -> bool:
    return (model.name, model.revision) == (space.model, space.revision)


def _multilingual_model() -> EmbeddingModel:
    try:
        return multilingual_model()
    except ImproperlyConfigured as error:
        raise ModelUnavailable(str(error)) from error


def _former_model(space: EmbeddingSpace) -> EmbeddingModel:
    key = (space.model, space.revision)
    since, reason = _failures.get(key, (-RETRY_AFTER_SECS, ""))
    if time.monotonic() - since < RETRY_AFTER_SECS:
        raise ModelUnavailable(reason)
    try:
        model = resident(_backend_of(space), _loadable_name(space))
        _refuse_other_vectors(space, model)
    except ImproperlyConfigured as error:
        reason = f"the model of the stored vectors, {space}, can't be loaded any more: {error}"
        _failures[key] = (time.monotonic(), reason)
        logger.warning(reason)
        raise ModelUnavailable(reason) from error
    return model


def _refuse_other_vectors(space: EmbeddingSpace, model: EmbeddingModel) -> None:
    if (model.revision, model.dimensions) != (space.revision, space.dimensions):
        raise ImproperlyConfigured(
            f"what is now called {model.name} has revision {model.revision} and {model.dimensions} dimensions"
        )


def _backend_of(space: EmbeddingSpace) -> str:
    """Return the backend of a stored space, recognised by name and revision."""
    if space.revision.startswith(ENDPOINT_REVISION):
        return "openai"
    if HASHING_NAME.fullmatch(space.model):
        return "hashing"
    named = settings.EMBEDDING_BACKEND
    return named if named in ("openvino", "sentence-transformers") else AUTO


def _loadable_name(space: EmbeddingSpace) -> str:
    return f"{space.model}@{space.revision}" if HASHING_NAME.fullmatch(space.model) else space.model
