"""Search engines on the web: one file for each, a registry, and what they share (ADR 21)."""
