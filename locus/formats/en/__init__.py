"""English pages."""
