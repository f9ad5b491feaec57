"""`{% load sizes %}{{ bytes|size_in_words }}`."""

from __future__ import annotations

from django import template

from core.languages.numbers import size_in_words

register = template.Library()
register.filter("size_in_words", size_in_words)
