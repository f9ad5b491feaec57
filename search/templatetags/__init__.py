"""Filters for the templates of this app."""
