"""`{% load money %}{{ cost|dollars }}`."""

from __future__ import annotations

from django import template

from core.languages.numbers import price

register = template.Library()
register.filter("dollars", price)
