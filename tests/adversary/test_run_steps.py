"""Each step of executions, archives and the first pages by itself, for others: see `test_steps`."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.files.base import File
from django.template import Context
from django.test import Client, RequestFactory

from accounts.access.identity import principal_of_key, principal_of_user
from accounts.access.keys import create_key
from accounts.models import ApiKey, Membership, Session
from accounts.principal import Principal
from accounts.roles import KeyScope, Role
from assistants.gateway.mcp import running
from assistants.gateway.view import wait_for
from core.errors import Forbidden, Unauthenticated
from core.row_access import NOTHING, with_access
from locus.demo import EXTERNAL_ID
from locus.door.bodies import _uploader
from locus.templatetags.first_steps import first_steps
from runs.api import _result_reply
from runs.archives import transfers
from runs.following import Sight
from runs.lifecycle import _workspace_of_session
from runs.models import Execution, ExecutionStatus
from runs.registry import tool_named
from runs.request import Call
from search.inputs import QuestionInput
from tests.conftest import Cast
from tests.factories import stored_document
from tests.testing.sockets import socket


@pytest.fixture
def alice(cast: Cast) -> Principal:
    return principal_of_user(cast.alice)


@pytest.fixture
def charlie(cast: Cast) -> Principal:
    return principal_of_user(cast.charlie)


@pytest.fixture
def done(cast: Cast) -> Execution:
    """An execution of alice's that has ended."""
    status = ExecutionStatus.COMPLETED
    return Execution.unscoped.create(
        tool="rag_search",
        user=cast.alice,
        workspace=cast.team,
        inputs={},
        status=status,
        result={"response": ""},
    )


@pytest.mark.django_db
class TestExecutions:
    def test_who_follows_one_looks_again(self, alice: Principal, charlie: Principal, done: Execution) -> None:
        assert Sight(alice, done.pk)._look_up() == frozenset()
        with pytest.raises(Unauthenticated):
            Sight(charlie, done.pk)._look_up()

    def test_who_pays_for_what_runs_in_a_conversation(
        self, cast: Cast, alice: Principal, charlie: Principal
    ) -> None:
        session = Session.unscoped.create(user=cast.alice, workspace=cast.team)
        assert _workspace_of_session(replace(alice, session_id=session.pk)) == cast.team.pk
        with pytest.raises(Session.DoesNotExist):
            _workspace_of_session(replace(charlie, session_id=session.pk))


@pytest.mark.django_db(transaction=True)
def test_a_result_is_for_a_key_that_still_is(cast: Cast, done: Execution) -> None:
    key = ApiKey.objects.get(user=cast.alice)
    inputs: Any = QuestionInput(query="jam")
    call = Call(principal_of_key(key), tool_named("rag_search"), inputs, None, False)
    assert _result_reply(call, done).status_code == 200
    key.delete()
    with pytest.raises(Unauthenticated):
        _result_reply(call, done)


@pytest.mark.django_db(transaction=True)
def test_other_protocols_give_a_result_to_a_key_that_still_is(cast: Cast, done: Execution) -> None:
    key = ApiKey.objects.get(user=cast.alice)
    principal = principal_of_key(key)
    assert wait_for(principal, done) == done
    assert running._result(principal, done) == {"response": ""}
    key.delete()
    for give in (wait_for, running._result):
        with pytest.raises(Unauthenticated):
            give(principal, done)


@pytest.mark.django_db(transaction=True)
async def test_a_key_that_does_not_read_runs_nothing(cast: Cast) -> None:
    _, secret = await sync_to_async(create_key)(cast.alice, "writes", scopes=["write"])
    opened = socket("/ws/tools/rag_search", [(b"x-api-key", secret.encode()), (b"host", b"testserver")])
    assert (await opened.connect(timeout=20))[0]
    await opened.send_json_to({"query": "jam"})
    assert (await opened.receive_json_from(20))["data"]["code"] == "forbidden"
    await opened.disconnect()


@pytest.mark.django_db
class TestArchives:
    def test_an_export_needs_the_scope(self, cast: Cast, alice: Principal) -> None:
        weak = replace(alice, scopes=frozenset({KeyScope.READ, KeyScope.WRITE}))
        for step in (transfers.begin_export, transfers.exports_of):
            with pytest.raises(Forbidden, match="scope"):
                step(weak, cast.team.pk)

    def test_each_admin_has_an_export_of_their_own(self, cast: Cast, alice: Principal) -> None:
        Membership.objects.filter(user=cast.bob).update(role=Role.ADMIN)
        mine = transfers.begin_export(alice, cast.team.pk)
        assert transfers.begin_export(alice, cast.team.pk) == mine
        assert transfers.begin_export(principal_of_user(cast.bob), cast.team.pk) != mine

    def test_an_external_user_has_no_archive_looked_at(self, cast: Cast) -> None:
        with pytest.raises(Forbidden):
            transfers.begin_import(principal_of_user(cast.alice, "x"), File(BytesIO(b"no archive")), None)


@pytest.mark.django_db
class TestPages:
    def test_the_guide_is_ones_own(self, cast: Cast, plain_static_files: None) -> None:
        guide = stored_document(
            cast.charlie.personal_workspace, "guide.md", b"# Guide", external_id=EXTERNAL_ID
        )
        for user, is_shown in ((cast.alice, False), (cast.charlie, True)):
            client = Client()
            client.force_login(user)
            assert (str(guide.pk) in client.get("/help").content.decode()) is is_shown

    @pytest.mark.parametrize("others", ["document", "execution"])
    def test_first_steps_end_with_what_one_has_done_oneself(self, cast: Cast, others: str) -> None:
        request = RequestFactory().get("/")
        request.user = cast.charlie
        of_document, of_execution = (
            cast.alice if others == each else cast.charlie for each in ("document", "execution")
        )
        stored_document(of_document.personal_workspace, "a.txt", b"a")
        workspace = of_execution.personal_workspace
        Execution.unscoped.create(tool="rag_search", user=of_execution, workspace=workspace, inputs={})
        assert first_steps(Context({"request": request}))["is_shown"]
        stored_document(cast.charlie.personal_workspace, "b.txt", b"b")
        workspace = cast.charlie.personal_workspace
        Execution.unscoped.create(tool="rag_search", user=cast.charlie, workspace=workspace, inputs={})
        assert not first_steps(Context({"request": request}))["is_shown"]


@pytest.mark.django_db
@pytest.mark.parametrize(("scope", "is_let_in"), [("write", True), ("read", False)])
def test_a_body_is_received_from_keys_that_write(cast: Cast, scope: str, is_let_in: bool) -> None:
    _, secret = create_key(cast.alice, "key", scopes=[scope])
    headers = [(b"x-api-key", secret.encode())]
    request = {
        "type": "http",
        "method": "POST",
        "path": "/api/v1/documents",
        "query_string": b"",
        "headers": headers,
    }
    # As the web server does, for nobody yet.
    with with_access(NOTHING):
        if is_let_in:
            assert _uploader(request) == cast.alice.pk
        else:
            with pytest.raises(Forbidden):
                _uploader(request)
