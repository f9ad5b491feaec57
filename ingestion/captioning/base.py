"""Which models can describe pictures, and by which prompt."""

PROMPT = "picture.v1"
"""A change of wording that changes descriptions is a new version: kept descriptions are known by it."""
MODELS = {
    "anthropic": "core.llm.anthropic.anthropic_model",
    "openai": "core.llm.openai.openai_model",
    "openai-compatible": "core.llm.openai.compatible_model",
}
