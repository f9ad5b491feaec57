"""The one visibility rule, case by case, and the guards that keep it the only one."""

from __future__ import annotations

import ast

import pytest
from django.apps import apps

from accounts.access.identity import in_session, principal_of_key, principal_of_user
from accounts.models import ApiKey, Membership, Session, Workspace
from accounts.principal import Principal
from accounts.scope import ScopedModel, ScopeError
from kb.models import Document
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.testing.paths import ROOT

SCOPED = [model for model in apps.get_models() if issubclass(model, ScopedModel)]


@pytest.mark.parametrize("model", SCOPED, ids=lambda model: model.__name__)
def test_a_query_outside_a_scope_raises(model: type[ScopedModel]) -> None:
    for query in (
        lambda: model.objects.all(),
        lambda: model.objects.filter(pk=None),
        lambda: model.objects.count(),
    ):
        with pytest.raises(ScopeError):
            query()


def test_every_table_that_belongs_to_a_workspace_is_scoped() -> None:
    unscoped = {
        model
        for model in apps.get_models()
        if any(f.name == "workspace" and f.related_model is Workspace for f in model._meta.get_fields())
        and not issubclass(model, ScopedModel)
    }
    assert unscoped == {Membership}


def test_only_these_modules_work_outside_a_scope() -> None:
    """A new module here means that somebody thought about whose data it touches."""
    allowed = {
        "accounts/audit_admin.py",  # the admin panel
        "assistants/admin.py",
        "assistants/agent/foreign.py",  # the servers that an admin has allowed to a visible assistant
        "assistants/tool_servers/managing.py",  # stores what an admin of the workspace has made
        "assistants/configuration/assistants.py",  # counts those of a workspace that the caller is in
        "assistants/configuration/people.py",  # gives those of deleted people to an owner
        "runs/explanation.py",
        "kb/document_admin.py",  # the admin panel: for staff with permission, its changes audited
        "kb/document_history.py",  # shown in the admin panel
        "locus/admin_search.py",  # names and ids for the admin panel
        "locus/failed_work.py",  # names for the admin panel
        "locus/failed_work_admin.py",
        "accounts/audit/recording.py",  # writes what was done; reads nothing
        "accounts/audit/retrievals.py",
        "accounts/audit/retention.py",  # deletes what is too old
        "accounts/quotas/limits.py",  # the quota of the workspace that a scoped run or upload is for
        "accounts/quotas/standing.py",
        "accounts/usage_api.py",  # staff set the quotas of any workspace
        "kb/storage_quota.py",  # adds up what such a workspace holds
        "accounts/usage/forgetting.py",  # removes the ids of deleted people
        "accounts/ledger/base.py",  # the quota of the workspace that a scoped run pays with
        "accounts/models/invitations.py",  # whoever has the secret of an invitation may accept it
        "accounts/people/invitations.py",
        "accounts/people/workspaces.py",  # the receipts of what a user has deleted
        "accounts/notifications/creating.py",  # tells users of the end of their own work
        "accounts/webhooks/emitting.py",  # ids and states for webhooks that an admin has made
        "accounts/webhooks/delivering.py",
        "accounts/webhooks/managing.py",  # stores what an admin of the workspace has made
        "kb/notifications/mail.py",  # mails each user what a scoped query of that user finds
        "kb/notifications/outcomes.py",  # whose conversation a document is in
        "accounts/people/deletion_jobs.py",  # erases what an owner or staff has deleted
        "accounts/external_users/listing.py",  # counts for admins of the workspaces that they name
        "accounts/external_users/deletion.py",  # deletes for admins what belongs to an external user
        "accounts/external_users/jobs.py",
        "accounts/people/export.py",  # the own data of who asks for it
        "accounts/access/rights.py",  # whether the conversations of principals are still there
        "assistants/archived_assistants.py",  # fills a new workspace
        "assistants/archiving.py",  # fills a new workspace
        "assistants/conversations.py",  # deletes for admins the messages of an external user
        "assistants/widgets/visitors.py",  # stores the conversation that its principal was given
        "assistants/messages.py",  # stores a message in the session of its principal
        "runs/admin.py",
        "search/admin.py",
        "kb/file_encryption.py",  # the operator's command: encrypts the files of everybody
        "kb/documents.py",  # changes what a scoped query found
        "kb/deletion.py",  # deletes what a scoped query, or the deletion of its workspace, found
        "kb/doctor/base.py",  # the operator's tool: looks after everybody's rows, and shows no content
        "kb/doctor/files.py",
        "kb/doctor/rows.py",
        "kb/doctor/encryption.py",
        "kb/doctor/index.py",
        "kb/jobs.py",  # tells a job's queue the workspace of its document
        "kb/index/segments.py",  # writes what the document's own rows say
        "kb/index/merging.py",  # joins segments of one scope
        "kb/index/purging.py",  # removes what those hold of dead chunks
        "kb/index/engines/segments.py",  # counts and removes what the operator gives up
        "kb/index/switching.py",  # writes everybody's documents to another engine
        "kb/index/milvus/changes.py",  # writes what the document's own rows say
        "kb/index/milvus/statistics.py",
        "kb/index/renewing.py",  # writes the terms of a segment's own chunks again
        "kb/changes.py",  # locks and changes what a scoped query found
        "runs/archives/exporting.py",  # writes what the right of an admin, checked before, allows
        "runs/archives/importing.py",  # fills a new workspace, and takes no id that is taken
        "runs/archives/transfers.py",  # does in the worker what a principal was allowed to begin
        "runs/lifecycle.py",  # begins what a principal may, ends what it found
        "runs/journal.py",  # writes and reads what a scoped query found
        "runs/leases.py",
        "runs/following.py",
        "runs/scrubbing.py",  # removes the words of documents that are deleted
        "runs/jobs.py",
        "assistants/gateway/leaving.py",  # ends the run whose client has left, and no other
        "assistants/gateway/usage.py",  # the costs of an execution that a scoped query found
        "assistants/gateway/view.py",  # the end of an execution whose events it has streamed to its owner
        "accounts/ledger/balances.py",  # books for the workspace that a scoped run pays with
        "accounts/ledger/spending.py",
        "ingestion/pipeline.py",  # jobs act on the document that their uploader was allowed to add
        "ingestion/progress.py",
        "kb/chunks.py",
        "kb/replacing.py",  # locks the row of a document that the caller may change
        "kb/scheduled_deletion.py",  # deletes what somebody with the right to do so has marked
        "ingestion/vectors.py",
        "ingestion/attachments.py",
        "accounts/workspace_admin.py",  # quotas, which staff decide
        "accounts/admin_facts.py",  # counts of use, for staff
        "locus/admin_facts.py",
        "locus/components/languages.py",
        "locus/dashboard/figures.py",  # counts, for staff
        "locus/dashboard/view.py",  # what all workspaces have spent, for staff
        "kb/reembedding/filling.py",  # the operator's change of model concerns everybody's chunks
    }
    files = [
        p
        for app in ("core", "accounts", "kb", "runs", "ingestion", "search", "assistants", "locus")
        for p in (ROOT / app).rglob("*.py")
    ]
    using = {
        str(path.relative_to(ROOT))
        for path in files
        if "migrations" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in {"unscoped", "_base_manager"}
    }
    assert using == allowed


@pytest.mark.parametrize(
    ("of", "asked_by", "shared", "visible"),
    [
        (None, None, False, True),
        ("x", "x", False, True),
        ("x", None, False, False),
        ("x", "y", False, False),
        ("x", "X", False, False),
        (None, "x", False, False),
        (None, "x", True, True),
        ("y", "x", True, False),
        ("y", None, True, False),
    ],
)
def test_external_users(
    cast: Cast, of: str | None, asked_by: str | None, shared: bool, visible: bool
) -> None:
    cast.team.share_with_external_users = shared
    cast.team.save()
    document = indexed_document(cast.team, external_user_id=of)
    principal = principal_of_user(cast.alice, asked_by)
    assert Document.objects.restricted_to(principal).filter(pk=document.pk).exists() is visible
    assert Document.objects.addressable_by(principal).filter(pk=document.pk).exists() is visible


def test_members_see_and_strangers_do_not(cast: Cast) -> None:
    indexed_document(cast.team)
    seen = {
        user.email: Document.objects.restricted_to(principal_of_user(user)).count()
        for user in (cast.alice, cast.bob, cast.charlie)
    }
    assert seen == {"alice@example.org": 1, "bob@example.org": 1, "charlie@example.org": 0}


class TestSessions:
    @pytest.fixture
    def session(self, cast: Cast) -> Session:
        return Session.unscoped.create(user=cast.alice, workspace=cast.team)

    @pytest.fixture
    def attached(self, cast: Cast, session: Session) -> Document:
        return indexed_document(cast.team, session=session)

    @staticmethod
    def sees(principal: Principal, document: Document) -> tuple[bool, bool]:
        """Whether the principal finds it in lists, and by id."""
        return (
            Document.objects.restricted_to(principal).filter(pk=document.pk).exists(),
            Document.objects.addressable_by(principal).filter(pk=document.pk).exists(),
        )

    def test_inside_the_session_it_is_listed(self, cast: Cast, session: Session, attached: Document) -> None:
        assert self.sees(in_session(principal_of_user(cast.alice), session.pk), attached) == (True, True)

    def test_outside_it_is_only_there_by_id_and_for_its_owner(self, cast: Cast, attached: Document) -> None:
        assert self.sees(principal_of_user(cast.alice), attached) == (False, True)
        assert self.sees(principal_of_user(cast.bob), attached) == (False, False)
        assert self.sees(principal_of_user(cast.alice, "x"), attached) == (False, False)

    def test_in_another_session_it_is_not_there(self, cast: Cast, attached: Document) -> None:
        other = Session.unscoped.create(user=cast.alice, workspace=cast.team)
        assert self.sees(in_session(principal_of_user(cast.alice), other.pk), attached) == (False, False)


def test_a_narrowed_key_stays_narrow_when_its_workspace_is_gone(cast: Cast) -> None:
    from accounts.access.keys import authenticate, create_key

    other = Workspace.create_for(cast.alice, name="Other")
    _, secret = create_key(cast.alice, "narrow", workspaces=[other])
    assert principal_of_key(authenticate(secret)[0]).workspace_ids == {other.pk}
    other.delete()
    assert principal_of_key(authenticate(secret)[0]).workspace_ids == frozenset()


def test_a_key_stores_no_secret(cast: Cast) -> None:
    secret = cast.keys["alice"]
    row = ApiKey.objects.get(user=cast.alice)
    assert secret not in {row.digest, row.prefix, row.name}
