"""The cards that the page Ask shows to new users."""

from __future__ import annotations

from typing import Any

from django import template

from accounts.access.identity import principal_of_user
from accounts.models import User
from accounts.scope import as_principal
from kb.models import Document, Status
from locus.demo import EXTERNAL_ID, QUESTIONS
from locus.model_connection.administrators import may_connect
from runs.models import Execution
from search.generation.connection import connection
from search.generation.registry import environment_choice

register = template.Library()


@register.inclusion_tag("locus/first_steps.html", takes_context=True)
def first_steps(context: dict[str, Any]) -> dict[str, Any]:
    """Show first steps until the user closes them, or has documents and has asked something."""
    user = context["request"].user
    if not isinstance(user, User) or not user.shows_welcome:
        return {"is_shown": False}
    principal = principal_of_user(user)
    with as_principal(principal):
        documents = Document.objects.restricted_to(principal)
        guide = documents.filter(external_id=EXTERNAL_ID, workspace=principal.personal_workspace_id).first()
        others = documents.exclude(pk=guide.pk) if guide else documents
        has_begun = others.exists() and Execution.objects.restricted_to(principal).exists()
    return {
        "is_shown": not has_begun,
        "guide": guide,
        # Its questions can be pressed when it has been read: the page's script waits for that.
        "is_reading": guide is not None and guide.status not in (Status.READY, Status.PARTIAL),
        "questions": QUESTIONS[guide.language] if guide and guide.language in QUESTIONS else (),
        "workspace_id": principal.personal_workspace_id,
        "offers_models": may_connect(user) and environment_choice() is None and connection() is None,
    }
