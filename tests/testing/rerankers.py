"""What stands for rerankers in tests: loopback endpoints, and a cross-encoder of a few kilobytes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from search.rerank.overlap import OverlapReranker
from tests.testing.endpoints import LoopbackEndpoint, Reply
from tests.testing.payments import UNRECORDED

DOUBLE = OverlapReranker()


@dataclass
class RerankEndpoint(LoopbackEndpoint):
    """Speaks `POST /rerank` as Cohere does, best first; or as Text Embeddings Inference, if told so."""

    path: ClassVar[str] = "/rerank"
    is_tei: bool = False
    alter: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = lambda rows: rows

    def answer(self, body: dict[str, Any]) -> Reply:
        field, score = ("texts", "score") if self.is_tei else ("documents", "relevance_score")
        if field not in body:
            return 422, {}, {"error": f"missing field `{field}`"}
        if "" in body[field]:
            return 400, {}, {"message": "texts must not be empty"}
        scores = DOUBLE.score(body["query"], body[field], within=1, payment=UNRECORDED)
        rows = [{"index": index, score: value} for index, value in enumerate(scores)]
        rows = self.alter(sorted(rows, key=lambda row: -row[score]))
        return 200, {}, rows if self.is_tei else {"id": "1", "results": rows}


@dataclass
class JudgeEndpoint(LoopbackEndpoint):
    """Speaks `POST /chat/completions`; reads the passages between the fences and judges by shared words."""

    path: ClassVar[str] = "/chat/completions"
    wrap: Callable[[list[float]], str] = lambda marks: json.dumps({"scores": marks})
    usage: dict[str, int] | None = None
    """How many tokens it says to have read and written."""

    def answer(self, body: dict[str, Any]) -> Reply:
        system, user = (message["content"] for message in body["messages"])
        fence = re.search(r"===== [0-9a-f]{32}", system)
        assert fence is not None
        parted = re.split(rf"^{fence[0]} \w+ =====$", user, flags=re.MULTILINE)
        question, *passages = (text.strip("\n") for text in parted[1::2])
        marks = [
            round(10 * share) for share in DOUBLE.score(question, passages, within=1, payment=UNRECORDED)
        ]
        message = {"role": "assistant", "content": self.wrap(marks)}
        reply = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1790000000,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }
        if self.usage:
            reply["usage"] = self.usage | {"total_tokens": sum(self.usage.values())}
        return 200, {}, reply


def make_cross_encoder(folder: Path, labels: int = 1) -> Path:
    """Write a BERT with random weights and a vocabulary of letters."""
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,?"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(words))
    BertTokenizer(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
    )
    config.num_labels = labels
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder
