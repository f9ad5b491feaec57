"""A document as one readable text: blocks in reading order, made from its stored chunks (ADR 47)."""
