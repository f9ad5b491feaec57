"""Chat models as pydantic-ai reaches them: for those who answer, and for those who describe pictures.

One file for each provider; nothing is imported before one is chosen.
"""
