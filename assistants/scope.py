"""Where the question of a turn is searched: what the message, the conversation and the follow-up narrow."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from accounts.models import Session
from accounts.principal import Principal
from assistants.followups import SelfContained
from assistants.messages import ChatTurn
from kb.models import Document
from search.questions import Filters, Question

EVERYTHING = Question("")
"""A scope that narrows nothing."""


def question_of(principal: Principal, turn: ChatTurn, question: SelfContained) -> Question:
    """Return the question as retrieval takes it.

    The documents that a message names go before those of the conversation's scope. Documents attached to the
    conversation are always searched, unless the message names others.
    """
    if turn.message.document_ids is not None:
        return Question(question.question, tuple(turn.message.document_ids))
    scope = scope_of(turn.session)
    attached = _attached(principal, turn.session)
    if attached and scope != Question(""):
        scope = Question("", tuple({*_documents_in(principal, scope), *attached}))
    if question.document_ids:
        carried = set(question.document_ids) & _documents_in(principal, scope, question.document_ids)
        # What follows up on documents that are gone, or outside the scope, is searched like any question.
        scope = Question("", tuple(carried)) if carried else scope
    return Question(question.question, scope.document_ids, scope.workspace_ids, scope.filters)


def scope_of(session: Session) -> Question:
    """Return a conversation's scope as the restrictions of a question without words."""
    return stored_scope(session.search_scope)


def stored_scope(stored: Mapping[str, Any]) -> Question:
    """Return a stored scope as the restrictions of a question without words."""
    documents, workspaces = (
        None if (ids := stored.get(name)) is None else tuple(map(UUID, ids))
        for name in ("document_ids", "workspace_ids")
    )
    filters = Filters(
        tags=tuple(stored.get("tags") or ()),
        collection_ids=tuple(map(UUID, stored.get("collection_ids") or ())),
    )
    return Question("", documents, workspaces, filters)


def both_scopes(principal: Principal, one: Question, other: Question) -> Question:
    """Return what lies within two scopes, as the restrictions of a question without words.

    Two that narrow become the documents in both: there is no other way to ask for two lists of tags at once.
    """
    one, other = replace(one, text=""), replace(other, text="")
    if EVERYTHING in (one, other):
        return other if one == EVERYTHING else one
    return Question("", tuple(_documents_in(principal, one) & _documents_in(principal, other)))


def with_attached(principal: Principal, scope: Question, session: Session) -> Question:
    """Return a scope together with the documents that are attached to a conversation."""
    attached = _attached(principal, session)
    if not attached or scope == EVERYTHING:
        return scope
    return Question("", tuple({*_documents_in(principal, scope), *attached}))


def workspaces_in(principal: Principal, scope: Question) -> set[UUID]:
    """Return the workspaces whose documents a search within a scope looks through."""
    if scope.document_ids is not None:
        named = Document.objects.addressable_by(principal).filter(pk__in=scope.document_ids)
        return set(named.values_list("workspace_id", flat=True))
    every = set(principal.workspace_ids)
    return every if scope.workspace_ids is None else every & set(scope.workspace_ids)


def searched_workspaces_of(principal: Principal, session: Session) -> set[UUID]:
    """Return the workspaces whose documents the questions of a conversation search."""
    if not session.searches_documents:
        return set()
    scope = scope_of(session)
    if scope.document_ids is not None:
        named = Document.objects.addressable_by(principal).filter(pk__in=scope.document_ids)
        return {session.workspace_id, *named.values_list("workspace_id", flat=True)}
    return set(principal.workspace_ids if scope.workspace_ids is None else scope.workspace_ids)


def _attached(principal: Principal, session: Session) -> set[UUID]:
    rows = Document.objects.restricted_to(principal).filter(session=session)
    return set(rows.order_by().values_list("pk", flat=True))


def documents_within(principal: Principal, scope: Question) -> QuerySet[Document]:
    """Return the documents within a scope that the principal may search."""
    rows = Document.objects.restricted_to(principal).filter(scope.filters.condition())
    if scope.document_ids is not None:
        rows = rows.filter(pk__in=scope.document_ids)
    if scope.workspace_ids is not None:
        rows = rows.filter(workspace__in=scope.workspace_ids)
    return rows


def _documents_in(principal: Principal, scope: Question, among: Collection[UUID] | None = None) -> set[UUID]:
    """Return the documents within a scope, on demand only those among some."""
    rows = documents_within(principal, scope)
    if among is not None:
        rows = rows.filter(pk__in=among)
    return set(rows.order_by().values_list("pk", flat=True))
