"""Without any one check of a scope, and with any one policy of PostgreSQL open, some test turns red.

`mutating.py` says how they are taken out in turn.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import models

from accounts.scope import ScopedManager
from core.database.base import DatabaseWrapper
from kb.models import Document
from tests.adversary import mutants
from tests.adversary.requests import Answer, ask, own_ids
from tests.adversary.test_api import PLACES
from tests.adversary.world import World
from tests.testing.paths import ROOT

SUITES = {
    "scopes": [
        "tests/accounts/test_api_keys.py",
        "tests/accounts/test_external_users.py",
        "tests/accounts/test_invitations.py",
        "tests/accounts/test_key_rotation.py",
        "tests/accounts/test_own_data.py",
        "tests/accounts/test_preferences.py",
        "tests/accounts/test_profile.py",
        "tests/accounts/test_scope.py",
        "tests/accounts/test_second_factors.py",
        "tests/accounts/test_tokens.py",
        "tests/accounts/test_usage_api.py",
        "tests/accounts/test_walk.py",
        "tests/accounts/test_webhooks.py",
        "tests/accounts/test_workspaces.py",
        "tests/adversary",
        "tests/assistants/agent",
        "tests/assistants/test_archived_assistants.py",
        "tests/assistants/test_assistant_pages.py",
        "tests/assistants/test_assistants.py",
        "tests/assistants/test_chat.py",
        "tests/assistants/test_conversations.py",
        "tests/assistants/test_sharing.py",
        "tests/assistants/tool_servers",
        "tests/assistants/widgets",
        "tests/conformance/test_index_engines.py",
        "tests/ingestion/test_ingest_command.py",
        "tests/kb/test_bulk.py",
        "tests/kb/test_collections.py",
        "tests/kb/test_document_events.py",
        "tests/kb/test_documents_api.py",
        "tests/kb/test_external_users.py",
        "tests/kb/test_notifications.py",
        "tests/kb/test_url_documents.py",
        "tests/locus/test_document_admin.py",
        "tests/locus/test_model_connection.py",
        "tests/locus/test_pages.py",
        "tests/runs/test_archives.py",
        "tests/runs/test_ended_rights.py",
        "tests/runs/test_executions.py",
        "tests/runs/test_present_scope.py",
        "tests/search/test_finding.py",
        "tests/search/test_preferences.py",
        "tests/search/test_search_api.py",
        "tests/search/test_search_page.py",
        "tests/search/test_web_use.py",
        "tests/search/web/test_metrics.py",
        "tests/search/web/test_web_settings.py",
    ],
    "policies": ["tests/accounts/test_row_security.py"],
}
"""What may turn red."""
LEFT_OUT = [
    # They would notice, but take long, and others notice, too.
    *("test_each_place_is_one", "test_what_has_ended", "the_admin_panel", "has_a_case"),
    # They repair policies, or compare them with what they should be.
    *("TestInstallation", "TestConnections"),
    # It is about PostgreSQL alone, which is off for the scopes.
    *("test_postgresql_keeps_it_so",),
]
OF_ROLE = "`sees_all` has looked up the role in the workspace"
OF_WORKSPACE = "the role admin in the workspace was required before, and the query names the workspace"
OF_ASSISTANT = "`changeable_assistant` has just found it, and checked the right to change it"
REDUNDANT = {
    "accounts/people/invitations.py:invitations_of:restricted_to": OF_WORKSPACE,
    "accounts/people/invitations.py:revoke_invitation:restricted_to:2": OF_WORKSPACE,
    "accounts/usage_views.py:workspace_activity:restricted_to": OF_WORKSPACE,
    "accounts/webhooks/managing.py:webhooks_of:restricted_to": OF_WORKSPACE,
    "accounts/usage/reading.py:UsageRows.of_workspace:restricted_to": OF_ROLE,
    "search/views.py:web_use:restricted_to": OF_WORKSPACE,
    "search/views.py:web_use:restricted_to:2": OF_WORKSPACE,
    "assistants/messages.py:begin_answer:restricted_to": "`session_of` has just found the conversation",
    "assistants/configuration/assistants.py:change_assistant:addressable_by": OF_ASSISTANT,
    "assistants/configuration/assistants.py:delete_assistant:addressable_by": OF_ASSISTANT,
    "assistants/configuration/recorded.py:configured_for:restricted_to": "the run asks for its own execution",
    "assistants/gateway/mcp/tools.py:_assistant:NotFound": "without it nothing is asked, which fails, too",
    "assistants/pages/bindings.py:_found:addressable_by": "`changeable_or_404` looks for the assistant again",
    "assistants/tool_servers/managing.py:assistants_of_workspace:restricted_to": OF_WORKSPACE,
    "assistants/tool_servers/managing.py:tool_servers_of:restricted_to": OF_WORKSPACE,
    "assistants/widgets/api.py:cited_context:restricted_to": "its conversation was just found",
    "assistants/widgets/visitors.py:conversation_of:restricted_to": "the token names its own conversation",
    "kb/collections.py:add_collection:restricted_to": "it counts at the place that the principal may fill",
}
"""By check, why nobody can notice its absence: another stands before it, and a query must have a scope."""


def test_the_checks_are_found() -> None:
    found = mutants.sites()
    assert len(found) > 230
    for rule in ("_in_workspaces", "owned_by", "document_rule"):
        assert f"accounts/scope.py:{rule}:Q" in found
    assert "kb/api/finding.py:visible_document:addressable_by" in found
    assert "kb/index/view.py:open_view:restricted_to" in found
    assert REDUNDANT.keys() <= found.keys()
    assert mutants.FILTERS.isdisjoint(mutants.CHECKS)


EXAMPLE = """
class Reader:
    def rows(self, principal):
        principal.require_scope("read")
        if self.is_closed:
            raise Forbidden("closed")
        return Row.objects.restricted_to(principal), rank(Row.objects.restricted_to(principal))
"""
CHECKS_OF_EXAMPLE = {
    "example.py:Reader.rows:require_scope": "principal.require_scope",
    "example.py:Reader.rows:Forbidden": "raise Forbidden",
    "example.py:Reader.rows:restricted_to": "Row.unscoped.all()",
    "example.py:Reader.rows:restricted_to:2": "rank(Row.unscoped.all()",
}


def test_each_check_has_a_switch_of_its_own() -> None:
    tree, found = mutants.with_switches(EXAMPLE, "example.py")
    assert list(found) == list(CHECKS_OF_EXAMPLE)
    code = ast.unparse(tree)
    for site, mutation in CHECKS_OF_EXAMPLE.items():
        assert f"__is_removed__('{site}')" in code
        assert mutation in code


@pytest.mark.django_db
def test_the_adversary_sees_a_scope_that_lets_all_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick proof that the walk can turn red: ids that hide nothing any more are answered with 200."""
    from asgiref.sync import async_to_sync

    def everything(self: ScopedManager[Document], principal: object) -> models.QuerySet[Document]:
        return self.model.unscoped.all()

    world = World()
    charlie = world.attacker("charlie")
    thing = next(thing for thing in world.things if thing.kind == "document")
    place = next(p for p in PLACES if p.kind == "document" and p.where == "path" and p.method == "GET")

    async def status() -> int:
        own = own_ids(charlie, world.things)
        return (await Answer.of(await ask(charlie, place, thing.id, own), thing.id)).status

    assert async_to_sync(status)() == 404
    monkeypatch.setattr(ScopedManager, "addressable_by", everything)
    # PostgreSQL makes up for it: the second wall.
    assert async_to_sync(status)() == 404
    monkeypatch.setattr(DatabaseWrapper, "_may_restrict", lambda self, connection: False)
    assert async_to_sync(status)() == 200


@pytest.mark.slow("mutations")
@pytest.mark.parametrize("kind", SUITES)
def test_whatever_is_taken_out_turns_some_test_red(kind: str, tmp_path: Path) -> None:
    outcome = take_out_in_turn(kind, tmp_path / "report.json")
    assert outcome["red"] == {}
    survivors = {name for name, test in outcome["outcome"].items() if test is None}
    assert survivors == (REDUNDANT.keys() if kind == "scopes" else set())


def take_out_in_turn(kind: str, report: Path) -> dict[str, Any]:
    """Run the tests in a process of its own, with a database and a data folder of its own."""
    environment = os.environ | {"LOCUS_MUTATE": kind, "CI": "1"}
    for name in ("DATABASE_URL", "DATA_DIR", "PYTEST_PLUGINS", "PYTEST_XDIST_WORKER"):
        environment.pop(name, None)
    options = ["-q", "-p", "no:cacheprovider", "-p", "tests.adversary.mutating", "--slow", "none"]
    chosen = " and ".join(f"not {name}" for name in ["test_mutations", *LEFT_OUT])
    command = [sys.executable, "-m", "pytest", *options, "-k", chosen, "--report", str(report), *SUITES[kind]]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert report.exists(), run.stdout[-3000:] + run.stderr[-3000:]
    return dict(json.loads(report.read_text()))
