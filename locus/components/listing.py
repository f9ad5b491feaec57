"""All components, as the settings choose them. Nothing is called, and no secret is shown."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from uuid import UUID

import httpx2
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from core.last_errors import last_errors
from core.llm.registry import PROVIDERS as CHAT_PROVIDERS
from kb.embedding import embedding_model
from kb.embedding.calibration import knows_english_alone
from kb.models import EmbeddingSpace
from locus.components import trials
from locus.components.base import Component, ComponentGroup, ComponentSetting
from locus.components.languages import note_of_languages
from search.generation.base import Choice
from search.generation.registry import choices
from search.rerank.registry import reranker
from search.web.breaker import State
from search.web.breaker import name_of as breaker_name
from search.web.providers.registry import PROVIDERS as ENGINES
from search.web.providers.registry import configured_providers, kind_of
from search.web.usage.health import Health, engine_healths


def component_groups(payer_id: UUID) -> list[ComponentGroup]:
    """Return all components with their last errors; the workspace `payer_id` pays for tests."""
    groups = [
        ("Finding", [embedding(), _reranker()]),
        ("Answering", [*_generators(), _multilingual()]),
        ("Reading", [_captioner(), _ocr(), _speech()]),
        ("Web search", _engines(payer_id)),
    ]
    names = [each.error_name for _, components in groups for each in components if each.error_name]
    errors = last_errors(names)
    return [
        ComponentGroup(title, tuple((each, errors.get(each.error_name)) for each in components))
        for title, components in groups
    ]


def models_in_force() -> list[Component]:
    """Return the models that read, find and answer, without the search engines."""
    return [embedding(), _reranker(), *_generators(), _multilingual(), _captioner(), _ocr(), _speech()]


def embedding() -> Component:
    """Return the embedding model."""
    shown = _settings("EMBEDDING_BACKEND", "EMBEDDING_MODEL", "EMBEDDING_BASE_URL", "EMBEDDING_API_KEY")
    try:
        model = embedding_model()
    except ImproperlyConfigured as error:
        return Component("embedding", "Embedding", "", settings=shown, problem=str(error))
    active = EmbeddingSpace.objects.filter(is_active=True).first()
    is_active = active is None or (active.model, active.revision) == (model.name, model.revision)
    note = f"Searches still use {active} until all documents are embedded again."
    return Component(
        "embedding",
        "Embedding",
        model.name,
        f"revision {model.revision}, {model.dimensions} dimensions, by {model.runs_on}",
        shown,
        note=note_of_languages(model.name) if is_active else note,
        error_name="EMBEDDING",
        trial=trials.try_embedding,
    )


def _reranker() -> Component:
    shown = _settings("RERANKER", "RERANKER_MODEL", "RERANKER_BASE_URL", "RERANKER_API_KEY")
    try:
        chosen = reranker()
    except ImproperlyConfigured as error:
        return Component("reranker", "Reranker", "", settings=shown, problem=str(error))
    if chosen is None:
        return Component("reranker", "Reranker", "", settings=shown, note="Candidates keep their order.")
    return Component(
        "reranker",
        "Reranker",
        ", ".join(chosen.names),
        settings=shown,
        error_name="RERANKER",
        trial=trials.try_reranker,
    )


def _multilingual() -> Component:
    """Return what reads questions and sentences that are not in English; it is not loaded for this."""
    model, shown = settings.MULTILINGUAL_MODEL, _settings("MULTILINGUAL_MODEL", "MULTILINGUAL_VECTORS")
    title = "Answers in other languages than English"
    try:
        embeds = embedding_model().name
    except ImproperlyConfigured:
        # Said of the embedding model itself.
        return Component("multilingual", title, model, settings=shown)
    if not knows_english_alone(embeds):
        return Component(
            "multilingual", title, embeds, settings=shown, note="The embedding model knows them."
        )
    if not model:
        note = "The embedding model reads them, which knows English alone."
        return Component("multilingual", title, embeds, settings=shown, note=note)
    note = "Loaded with the first question or text that is not in English; takes 400 MB of memory."
    return Component("multilingual", title, model, settings=shown, note=note)


def _generators() -> list[Component]:
    try:
        chosen = choices()
    except ImproperlyConfigured as error:
        return [Component("generator-0", "Answers", "", problem=str(error))]
    return [_generator(number, choice) for number, choice in enumerate(chosen)]


def _generator(number: int, choice: Choice) -> Component:
    names = [f"GENERATION_{part}" for part in ("PROVIDER", "MODEL", "BASE_URL", "API_KEY")]
    shown = _settings(*names, *_usual_keys(choice.provider)) if not number else _fallback_settings(choice)
    is_chat = choice.provider in CHAT_PROVIDERS
    note = "" if is_chat else "It needs no model: it puts sentences of the documents together."
    return Component(
        f"generator-{number}",
        f"Answers, if {'the one before fails' if number > 1 else 'the first fails'}" if number else "Answers",
        choice.name,
        f"by {choice.provider}" if is_chat else "",
        shown,
        note=note,
        error_name=f"{choice.provider}:{choice.model}" if is_chat else "",
        trial=partial(trials.try_generator, choice),
    )


def _fallback_settings(choice: Choice) -> tuple[ComponentSetting, ...]:
    parts = [choice.provider, choice.model, _without_secrets(choice.base_url)]
    own = ComponentSetting("GENERATION_FALLBACKS", ", ".join(filter(None, parts)))
    return (own, ComponentSetting("its key", "set" if choice.api_key else ""))


def _captioner() -> Component:
    names = [f"VISION_{part}" for part in ("PROVIDER", "MODEL", "BASE_URL", "API_KEY")]
    shown = _settings(*names, *_usual_keys(settings.VISION_PROVIDER))
    if not settings.VISION_PROVIDER:
        note = "Pictures are found by the text around them."
        return Component("captioner", "Descriptions of pictures", "", settings=shown, note=note)
    return Component(
        "captioner",
        "Descriptions of pictures",
        settings.VISION_MODEL or "no model",
        f"by {settings.VISION_PROVIDER}",
        shown,
        error_name=f"{settings.VISION_PROVIDER}:{settings.VISION_MODEL}",
        trial=trials.try_captioner,
    )


def _ocr() -> Component:
    return Component(
        "ocr", "Text recognition (OCR)", "PP-OCR", f"rapidocr {version('rapidocr')}", trial=trials.try_ocr
    )


def _speech() -> Component:
    return Component(
        "speech",
        "Speech recognition",
        "Whisper base, tiny.en for English" if settings.SPEECH_MODEL == "auto" else settings.SPEECH_MODEL,
        f"faster-whisper {version('faster-whisper')}",
        _settings("SPEECH_MODEL", "SPEAKER_TURNS"),
        trial=trials.try_speech,
    )


def _engines(payer_id: UUID) -> list[Component]:
    healths = {each.name: each for each in engine_healths(timezone.now())}
    known = {each.name: each for each in configured_providers()}
    components = []
    for name in ENGINES:
        engine, health = known.get(name), healths.get(name)
        shown = _settings(*_names_of_engine(name))
        title = kind_of(name).label
        if engine is None or health is None:
            components.append(Component(f"engine-{name}", title, "", settings=shown))
            continue
        components.append(
            Component(
                f"engine-{name}",
                title,
                "Configured",
                settings=shown,
                problem=_trouble(health),
                error_name=breaker_name(name),
                trial=lambda payment, engine=engine: trials.try_engine(engine, payer_id),
            )
        )
    return components


def _trouble(health: Health) -> str:
    """Return what its breaker says, in words; empty if there is no trouble."""
    if health.is_refused:
        return "Its key was refused. It is not asked until the settings change."
    if health.state is State.OPEN:
        return f"It has failed and is not asked now. {health.wait and f'It is asked again in {health.wait}.'}"
    if health.state is State.HALF_OPEN:
        return "It has failed too often. The next search finds out whether it works again."
    if health.failures:
        return (
            f"It has failed {health.failures} times in a row." if health.failures > 1 else "It failed once."
        )
    return ""


# --- Settings ----------------------------------------------------------------------------------------------


def _settings(*names: str) -> tuple[ComponentSetting, ...]:
    return tuple(ComponentSetting(name, _shown(name)) for name in names)


def _shown(name: str) -> str:
    value = getattr(settings, name, "")
    if name.endswith("KEY"):
        return "set" if value else ""
    return _without_secrets(str(value)) if name.endswith("URL") else str(value or "")


def _usual_keys(provider: str) -> list[str]:
    return {"anthropic": ["ANTHROPIC_API_KEY"], "openai": ["OPENAI_API_KEY"]}.get(provider, [])


def _names_of_engine(name: str) -> list[str]:
    prefix = f"{name.upper()}_"
    endings = ("KEY", "URL")
    return sorted({each for each in dir(settings) if each.startswith(prefix) and each.endswith(endings)})


def _without_secrets(url: str) -> str:
    if not url:
        return ""
    try:
        return str(httpx2.URL(url).copy_with(userinfo=b"", query=None))
    except httpx2.InvalidURL:
        return "not an address"
