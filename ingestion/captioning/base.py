"""By which prompt pictures are described."""

PROMPT = "picture.v1"
"""A change of wording that changes descriptions is a new version: kept descriptions are known by it."""
