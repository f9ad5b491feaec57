"""Connecting a language model: the page, and the addresses of the API that it uses (ADR 48)."""
