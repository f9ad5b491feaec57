"""Extractors: one module for each kind of file turns it into elements; `registry` chooses it by content."""
