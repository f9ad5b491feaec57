"""`POST /v1/embeddings`: vectors of the model that embeds the documents here, in OpenAI's form."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access.auth import principal_of
from assistants.gateway.computing import TEXTS_PER_TURN, Computation
from assistants.gateway.errors import ModelNotFound, UnsupportedParameter
from assistants.gateway.request import GatewayFields, ModelName
from assistants.gateway.view import GatewayView
from core.api.validation import validated
from core.errors import ValidationError
from ingestion.token_counts import SPECIAL_TOKENS
from kb.embedding import EmbeddingModel, Vectors, embedding_model

MOST_INPUTS = 256
MOST_CHARS = 50_000
"""Of one text. Longer ones are beyond every model's window, and are not even counted."""
InputText = Annotated[str, Field(min_length=1, max_length=MOST_CHARS)]
# Numbers are tokens of a tokenizer that is not ours: they are refused with a reason of their own.
Tokens = Annotated[list[int | list[int]], Field(min_length=1)]


class EmbeddingsRequest(GatewayFields):
    """A body of `POST /v1/embeddings`; `input_type` is ours."""

    input: InputText | Annotated[list[InputText], Field(min_length=1, max_length=MOST_INPUTS)] | Tokens
    model: ModelName
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = Field(None, ge=1)
    input_type: Literal["document", "query"] = "document"

    def texts(self) -> list[str]:
        """Return what is to be embedded; raise `UnsupportedParameter` for numbers of tokens."""
        given = [self.input] if isinstance(self.input, str) else self.input
        texts = [text for text in given if isinstance(text, str)]
        if len(texts) < len(given):
            raise UnsupportedParameter("Send texts: every model numbers its tokens otherwise.", param="input")
        return texts

    def require_model(self, model: EmbeddingModel) -> None:
        """Raise for another model, or vectors of another size, than there are."""
        if self.model != model.name:
            raise ModelNotFound(f"Texts are embedded by “{model.name}” here.", param="model")
        if self.dimensions not in (None, model.dimensions):
            raise UnsupportedParameter(
                f"The vectors of {model.name} have {model.dimensions} dimensions.", param="dimensions"
            )


class EmbeddingsView(GatewayView):
    """Embeds texts."""

    def post(self, request: Request) -> Response:
        """Return a unit vector for each text."""
        body = validated(EmbeddingsRequest, request.data)
        model, texts = embedding_model(), body.texts()
        body.require_model(model)
        computation = Computation.admit(principal_of(request), body)
        tokens = _tokens(model, texts)
        vectors = _vectors(computation, model, texts, is_query=body.input_type == "query")
        computation.count_tokens(tokens)
        return Response(
            {
                "object": "list",
                "data": [
                    {"object": "embedding", "index": index, "embedding": _encoded(vector, body)}
                    for index, vector in enumerate(vectors)
                ],
                "model": model.name,
                "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
            }
        )


def _tokens(model: EmbeddingModel, texts: Sequence[str]) -> int:
    """Return how many tokens the texts have; raise `ValidationError` for one that would be cut."""
    counts, most = model.count_tokens(texts), model.max_tokens - SPECIAL_TOKENS
    for index, count in enumerate(counts):
        if count > most:
            raise ValidationError(
                f"The text has {count} tokens; {model.name} reads {most}. Split it.",
                param="input" if len(texts) == 1 else f"input[{index}]",
            )
    return sum(counts)


def _vectors(
    computation: Computation, model: EmbeddingModel, texts: Sequence[str], *, is_query: bool
) -> list[Vectors]:
    vectors: list[Vectors] = []
    for start in range(0, len(texts), TEXTS_PER_TURN):
        some = texts[start : start + TEXTS_PER_TURN]
        with computation.turn():
            vectors.extend(map(model.embed_query, some) if is_query else model.embed_documents(some))
    return vectors


def _encoded(vector: Vectors, body: EmbeddingsRequest) -> Any:
    if body.encoding_format == "float":
        return vector.tolist()
    return base64.b64encode(np.ascontiguousarray(vector, dtype="<f4").tobytes()).decode()
