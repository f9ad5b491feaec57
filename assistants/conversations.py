"""The life of a conversation: created, changed, shared, and deleted with all that belongs to it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from accounts.audit.recording import record
from accounts.external_users.deletion import Removed
from accounts.models import AuditAction, Session
from accounts.principal import Principal
from assistants.models import Assistant, ChatMessage, SessionAssistant
from core.errors import Conflict, Forbidden, NotFound, ValidationError
from core.pubsub import WITHDRAWN, publish
from kb.deletion import delete_documents
from kb.models import Document, DocumentCollection
from runs.lifecycle import delete_execution
from runs.models import Execution
from search.web.preferences import are_web_tools_offered

ASSISTANT = "assistant_id"
"""The one value of a conversation that is in a table of its own."""
TITLE_CHARS = 80
"""A title that is made from a question has at most so many."""
DELETED_AT_ONCE = 200
"""So many conversations of an external user lose their messages in one transaction."""


def title_of(question: str) -> str:
    """Return a title made from a question: one line, cut at a word."""
    line = " ".join(question.split())
    if len(line) <= TITLE_CHARS:
        return line
    cut = line[:TITLE_CHARS]
    # A language without blanks has no words to cut at.
    return f"{cut.rpartition(' ')[0] or cut}…"


# --- Whose they are --------------------------------------------------------------------------------------


def visible_session(principal: Principal, id: UUID) -> Session:
    """Return a session that the principal may read: its own, or one that is shared; or raise `NotFound`."""
    found = Session.objects.addressable_by(principal).filter(pk=id).select_related("user").first()
    if found is None:
        raise NotFound
    return found


def own_session(principal: Principal, id: UUID) -> Session:
    """Return a session that the principal may change; raise `NotFound`, or `Forbidden` for a shared one."""
    session = visible_session(principal, id)
    if not Session.objects.restricted_to(principal).filter(pk=id).exists():
        raise Forbidden("Only the person who began this conversation can change it.")
    return session


def session_of(principal: Principal) -> Session:
    """Return the session that a request is within, or raise `ValidationError`."""
    if principal.session_id is None:
        raise ValidationError("Name the conversation by session_id.", param="session_id")
    found = Session.objects.restricted_to(principal).filter(pk=principal.session_id).first()
    if found is None:
        raise NotFound(param="session_id")
    return found


def listed_sessions(principal: Principal, text: str | None) -> QuerySet[Session]:
    """Return the principal's own sessions, on demand those with a text in the title or in a question."""
    own = Session.objects.restricted_to(principal).select_related("assistant_link")
    if text is None:
        return own
    messages = ChatMessage.objects.restricted_to(principal)
    asked = messages.filter(session=OuterRef("pk"), content__icontains=text)
    return own.filter(Q(title__icontains=text) | Exists(asked))


def assistant_of(principal: Principal, session: Session) -> UUID | None:
    """Return the assistant that answers in a conversation; None without one, or where it can't be seen."""
    link = SessionAssistant.objects.filter(session=session).first()
    if link is None:
        return None
    seen = Assistant.objects.addressable_by(principal).filter(pk=link.assistant_id).exists()
    return link.assistant_id if seen else None


# --- Changes ---------------------------------------------------------------------------------------------


@transaction.atomic
def create_session(principal: Principal, workspace_id: UUID | None, values: Mapping[str, Any]) -> Session:
    """Create a session; `values` are columns. Raise `NotFound` for a workspace the principal can't see."""
    workspace = workspace_id or principal.default_workspace_id()
    principal.require_workspace(workspace)
    session = Session(
        user_id=principal.user_id, workspace_id=workspace, external_user_id=principal.external_user_id
    )
    _set(principal, session, values)
    session.save(force_insert=True)
    _set_assistant(principal, session, values)
    if session.shared:
        _record_sharing(principal, session)
    return session


@transaction.atomic
def change_session(principal: Principal, session: Session, values: Mapping[str, Any]) -> None:
    """Set columns of a session; sharing is recorded in the audit log."""
    was_shared = session.shared
    _set(principal, session, values)
    session.save(update_fields=[name for name in values if name != ASSISTANT])
    _set_assistant(principal, session, values)
    if session.shared != was_shared:
        _record_sharing(principal, session)
    if was_shared and not session.shared:
        # Streams that readers follow look again at what they may see.
        publish(WITHDRAWN, "")


def _record_sharing(principal: Principal, session: Session) -> None:
    action = AuditAction.SESSION_SHARED if session.shared else AuditAction.SESSION_UNSHARED
    record(action, principal, workspace_id=session.workspace_id, target=("session", session.pk))


def _set(principal: Principal, session: Session, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if name != ASSISTANT:
            setattr(session, name, value)
    require_scope_visible(principal, session.search_scope, "scope.")
    if not (session.searches_documents or session.searches_web):
        raise ValidationError("Search documents, the web, or both.", param="tools")
    if session.searches_web and not are_web_tools_offered():
        raise ValidationError("This installation does not search the web.", param="tools.web")
    if session.shared:
        _require_shareable(session)


def _set_assistant(principal: Principal, session: Session, values: Mapping[str, Any]) -> None:
    """Choose the assistant of a conversation, or none; raise `NotFound` for one that can't be seen."""
    if ASSISTANT not in values:
        return
    id = values[ASSISTANT]
    if id is None:
        SessionAssistant.objects.filter(session=session).delete()
    elif not Assistant.objects.addressable_by(principal).filter(pk=id).exists():
        raise NotFound(f"There is no assistant {id} that you can see.", param=ASSISTANT)
    else:
        SessionAssistant.objects.update_or_create(session=session, defaults={"assistant_id": id})
    session.refresh_from_db()


def _require_shareable(session: Session) -> None:
    if session.external_user_id is not None:
        raise Conflict("A conversation of an external user can't be shared.", param="shared")
    if session.workspace.personal_of_id is not None:
        raise Conflict(
            "This conversation is in a personal workspace, which nobody else can read. "
            "Begin one in a shared workspace.",
            param="shared",
        )


def require_scope_visible(
    principal: Principal, scope: Mapping[str, Any], prefix: str, kept: Mapping[str, Any] | None = None
) -> None:
    """Raise `NotFound` naming the first thing of a scope that the principal can't see.

    What the scope `kept` has may stay: somebody else has chosen it, and it opens nothing to anybody.
    """
    for noun in ("workspace", "document", "collection"):
        name = f"{noun}_ids"
        ids, known = scope.get(name) or (), (kept or {}).get(name) or ()
        visible = _visible(principal, noun, [id for id in ids if id not in known])
        for index, id in enumerate(ids):
            if id not in known and UUID(id) not in visible:
                message = f"There is no {noun} {id} that you can see."
                raise NotFound(message, param=f"{prefix}{name}[{index}]")


def _visible(principal: Principal, noun: str, ids: Sequence[str]) -> Collection[UUID]:
    if not ids or noun == "workspace":
        return principal.roles
    model = Document if noun == "document" else DocumentCollection
    return set(model.objects.addressable_by(principal).filter(pk__in=ids).values_list("pk", flat=True))


# --- Deletion --------------------------------------------------------------------------------------------


def delete_session(principal: Principal, session: Session) -> dict[str, int]:
    """Delete a session with its messages, executions, events and attached documents; return the counts."""
    attached = Document.objects.addressable_by(principal).filter(session=session)
    documents = delete_documents(list(attached.values_list("pk", flat=True))).documents
    # Of every tool that ran within it.
    executions = list(Execution.objects.restricted_to(principal).filter(session=session))
    removed = delete_executions(executions)
    with transaction.atomic():
        messages = ChatMessage.objects.restricted_to(principal).filter(session=session).count()
        Session.objects.restricted_to(principal).filter(pk=session.pk).delete()
        counts = {"sessions": 1, "messages": messages, **removed, "documents": documents}
        record(
            AuditAction.SESSION_DELETED,
            principal,
            workspace_id=session.workspace_id,
            target=("session", session.pk),
            **counts,
        )
    return counts


def delete_message(principal: Principal, message: ChatMessage) -> dict[str, int]:
    """Delete a message with all that follow from it, and their answers; return the counts."""
    own = ChatMessage.objects.restricted_to(principal).filter(session=message.session_id)
    ids = subtree(message.pk, own.values_list("pk", "parent_id"))
    answers = Execution.objects.restricted_to(principal).filter(chat_answer__message__in=ids)
    removed = delete_executions(list(answers))
    with transaction.atomic():
        own.filter(pk__in=ids).delete()
        Session.objects.restricted_to(principal).filter(pk=message.session_id).update(
            updated_at=timezone.now()
        )
    return {"messages": len(ids), **removed}


def delete_executions(executions: Iterable[Execution]) -> dict[str, int]:
    """Delete executions, running ones cancelled first; return counts of executions and events."""
    counts = {"executions": 0, "events": 0}
    for execution in executions:
        for name, count in delete_execution(execution).items():
            counts[name] += count
    return counts


def subtree(root: UUID, parents: Iterable[tuple[UUID, UUID | None]]) -> Collection[UUID]:
    """Return a message and all that follow from it; `parents` are pairs of a message and the one before."""
    children: dict[UUID | None, list[UUID]] = {}
    for id, parent in parents:
        children.setdefault(parent, []).append(id)
    found = [root]
    for id in found:
        found.extend(children.get(id, ()))
    return found


def delete_messages_of_external_user(
    workspace_ids: Collection[UUID], external_user_id: str
) -> Removed | None:
    """Delete some messages of an external user's conversations in workspaces.

    For `accounts.external_users.deletion`; their executions are deleted by `runs`.
    """
    found = ChatMessage.unscoped.filter(workspace__in=workspace_ids, external_user_id=external_user_id)
    # A message takes along those that follow from it.
    ids = list(found.filter(parent=None).values_list("pk", flat=True)[:DELETED_AT_ONCE])
    if not ids:
        return None
    count = found.count()
    found.filter(pk__in=ids).delete()
    return Removed({"messages": count - found.count()})
