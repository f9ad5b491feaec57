"""`{% load summaries %}{% summary_model document as model %}`."""

from __future__ import annotations

from django import template
from django.http import HttpRequest

from accounts.access.identity import principal_of_user
from accounts.models import User
from kb.models import Document
from search.summaries import can_write

register = template.Library()


@register.simple_tag(takes_context=True)
def summary_model(context: template.Context, document: Document) -> str:
    """Return the model that would write a summary of a document for this reader; empty without one."""
    request = context["request"]
    assert isinstance(request, HttpRequest) and isinstance(request.user, User)
    return can_write(principal_of_user(request.user), document) or ""
