"""`{% load money %}{{ cost|dollars }}`."""

from __future__ import annotations

from django import template

from search.web.usage.money import dollars

register = template.Library()
register.filter("dollars", dollars)
