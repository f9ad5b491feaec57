"""Each step of a conversation by itself, given the ids of somebody else's: see `test_steps`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from accounts.access.identity import principal_of_user
from accounts.models import Session
from accounts.principal import Principal
from assistants import messages, scope, views
from assistants.archiving import archived_messages, export_messages
from assistants.conversations import (
    assistant_of,
    delete_message,
    delete_session,
    listed_sessions,
    session_of,
)
from assistants.inputs import ChatInput
from assistants.models import Assistant, ChatAnswer, ChatMessage, SessionAssistant, Visibility
from assistants.thread import ThreadView, messages_of
from core.errors import NotFound
from kb.models import Chunk, Document
from runs.models import Execution, ExecutionStatus
from search.questions import Question
from tests.conftest import Cast
from tests.factories import indexed_document

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Talk:
    """A conversation of alice's: a question with its answer, one that follows, and an attached document."""

    session: Session
    first: ChatMessage
    second: ChatMessage
    answer: Execution
    document: Document


@pytest.fixture
def talk(cast: Cast) -> Talk:
    owner: dict[str, Any] = {"user": cast.alice, "workspace": cast.team}
    session = Session.unscoped.create(title="Plums", **owner)
    first = ChatMessage.unscoped.create(session=session, content="Which jam?", **owner)
    second = ChatMessage.unscoped.create(session=session, content="And why?", parent=first, **owner)
    document = indexed_document(cast.team, "Damson jam.", session=session)
    Chunk.unscoped.update(headings=["Jams"])
    answer = Execution.unscoped.create(
        tool="chat",
        session=session,
        inputs={},
        status=ExecutionStatus.COMPLETED,
        read_documents=[document.pk],
        **owner,
    )
    ChatAnswer.objects.create(execution=answer, message=first)
    return Talk(session, first, second, answer, document)


@pytest.fixture
def alice(cast: Cast) -> Principal:
    return principal_of_user(cast.alice)


@pytest.fixture
def charlie(cast: Cast) -> Principal:
    return principal_of_user(cast.charlie)


def counts() -> list[int]:
    """Return how many rows there are of all that belongs to conversations."""
    return [model.unscoped.count() for model in (Session, ChatMessage, Execution, Document)]


class TestReading:
    def test_messages(self, alice: Principal, charlie: Principal, talk: Talk) -> None:
        assert list(messages_of(alice, talk.session)) == [talk.first, talk.second]
        assert not messages_of(charlie, talk.session).exists()

    def test_its_assistant(self, cast: Cast, alice: Principal, talk: Talk) -> None:
        """One that its maker has withdrawn answers no longer."""
        made = Assistant.unscoped.create(user=cast.bob, workspace=cast.team, name="Guide")
        SessionAssistant.objects.create(session=talk.session, assistant=made)
        assert assistant_of(alice, talk.session) is None
        Assistant.unscoped.update(visibility=Visibility.WORKSPACE)
        assert assistant_of(alice, talk.session) == made.pk

    def test_the_way_to_a_message(self, alice: Principal, charlie: Principal, talk: Talk) -> None:
        assert messages.path_to(alice, talk.second) == [talk.first, talk.second]
        assert messages.path_to(charlie, talk.second) == [talk.second]

    def test_the_view_of_a_thread(self, alice: Principal, charlie: Principal, talk: Talk) -> None:
        assert set(ThreadView.of(alice, talk.session).siblings) == {None, talk.first.pk}
        seen = ThreadView.of(charlie, talk.session)
        # Of what answers have read, nothing is even looked up.
        assert (seen.siblings, seen.hidden) == ({}, frozenset())

    def test_what_a_turn_knows(self, alice: Principal, charlie: Principal, talk: Talk) -> None:
        ids = [str(id) for id in Chunk.unscoped.values_list("pk", flat=True)]
        assert messages._chosen_answer(alice, talk.first) == talk.answer
        assert messages._headings_of(alice, ids) == ("Jams",)
        assert messages.load_turn(alice, talk.answer.pk).message == talk.first
        assert messages._chosen_answer(charlie, talk.first) is None
        assert messages._headings_of(charlie, ids) == ()
        with pytest.raises(ChatMessage.DoesNotExist):
            messages.load_turn(charlie, talk.answer.pk)

    def test_the_conversation(self, alice: Principal, charlie: Principal, talk: Talk) -> None:
        assert session_of(replace(alice, session_id=talk.session.pk)) == talk.session
        with pytest.raises(NotFound):
            session_of(replace(charlie, session_id=talk.session.pk))

    def test_one_message(self, alice: Principal, charlie: Principal, talk: Talk) -> None:
        assert messages.own_message(alice, talk.session, talk.first.pk) == talk.first
        with pytest.raises(NotFound):
            messages.own_message(charlie, talk.session, talk.first.pk)

    def test_what_is_searched(self, cast: Cast, alice: Principal, charlie: Principal, talk: Talk) -> None:
        elsewhere = indexed_document(cast.alice.personal_workspace)
        talk.session.search_scope = {"document_ids": [str(elsewhere.pk)]}
        searched = {cast.team.pk, cast.alice.personal_workspace.pk}
        assert scope.searched_workspaces_of(alice, talk.session) == searched
        assert scope.searched_workspaces_of(charlie, talk.session) == {cast.team.pk}
        named = Question("", (elsewhere.pk,))
        assert scope.workspaces_in(alice, named) == {cast.alice.personal_workspace.pk}
        assert scope.workspaces_in(charlie, named) == set()
        inside = replace(alice, session_id=talk.session.pk)
        assert scope._attached(inside, talk.session) == {talk.document.pk}
        assert scope._documents_in(inside, Question("")) == {talk.document.pk, elsewhere.pk}
        assert scope._attached(charlie, talk.session) == scope._documents_in(charlie, Question("")) == set()

    def test_what_the_page_shows(self, alice: Principal, talk: Talk) -> None:
        """To somebody who has left the workspace, nothing of their own conversation there."""
        assert views._attached(alice, talk.session) == [talk.document]
        assert views._attached(replace(alice, roles={}), talk.session) == []

    def test_archives_and_exports(self, cast: Cast, talk: Talk) -> None:
        assert len(list(archived_messages(cast.team, cast.alice))) == 2
        assert list(archived_messages(cast.team, cast.bob)) == []
        exported = {name: list(content) for name, content in export_messages(cast.bob)}
        assert exported == {"messages.jsonl": []}


OF_CONVERSATIONS = (Session, ChatMessage, Execution)


class TestRules:
    def test_ones_own(self, alice: Principal, talk: Talk) -> None:
        others = (replace(alice, roles={}), replace(alice, external_user_id="x"))
        for model in OF_CONVERSATIONS:
            assert model.objects.restricted_to(alice).exists()
            assert not any(model.objects.restricted_to(other).exists() for other in others)

    def test_shared(self, cast: Cast, charlie: Principal, talk: Talk) -> None:
        Session.unscoped.update(shared=True)
        bob = principal_of_user(cast.bob)
        for model in OF_CONVERSATIONS:
            assert model.objects.addressable_by(bob).exists()
            for other in (charlie, replace(bob, external_user_id="x")):
                assert not model.objects.addressable_by(other).exists()

    def test_only_the_answers_are_shared(self, cast: Cast, talk: Talk) -> None:
        Execution.unscoped.create(
            tool="rag_search", user=cast.alice, workspace=cast.team, session=talk.session, inputs={}
        )
        Session.unscoped.update(shared=True)
        assert list(Execution.objects.addressable_by(principal_of_user(cast.bob))) == [talk.answer]

    def test_rows_of_another_workspace_are_not_shared(self, cast: Cast, talk: Talk) -> None:
        Session.unscoped.update(shared=True)
        for model in (ChatMessage, Execution):
            model.unscoped.update(workspace=cast.alice.personal_workspace)
            assert not model.objects.addressable_by(principal_of_user(cast.bob)).exists()


class TestMessagesOfOthers:
    """charlie owns the conversation now, and alice her messages: only a mistake of ours would do that."""

    @pytest.fixture
    def inside(self, cast: Cast, charlie: Principal, talk: Talk) -> Principal:
        Session.unscoped.update(user=cast.charlie, workspace=cast.charlie.personal_workspace)
        return replace(charlie, session_id=talk.session.pk)

    def test_they_are_not_found(self, charlie: Principal, inside: Principal, talk: Talk) -> None:
        assert list(listed_sessions(charlie, "plum")) == [talk.session]
        assert list(listed_sessions(charlie, "jam")) == []

    def test_they_are_not_answered_again(self, inside: Principal, talk: Talk) -> None:
        inputs = ChatInput(message_id=talk.first.pk)
        with pytest.raises(NotFound):
            inputs.check_visible(inside)
        with pytest.raises(ChatMessage.DoesNotExist):
            messages._message_of(inside, inputs)


class TestDeletion:
    def test_of_a_message(self, alice: Principal, charlie: Principal, talk: Talk) -> None:
        before = counts()
        delete_message(charlie, talk.first)
        assert counts() == before
        assert Session.unscoped.get().updated_at == talk.session.updated_at
        delete_message(alice, talk.first)
        assert counts() == [1, 0, 0, 1]
        assert Session.unscoped.get().updated_at > talk.session.updated_at

    def test_of_a_conversation(self, alice: Principal, charlie: Principal, talk: Talk) -> None:
        before = counts()
        assert delete_session(charlie, talk.session)["messages"] == 0
        assert counts() == before
        assert delete_session(alice, talk.session)["messages"] == 2
        assert counts() == [0, 0, 0, 0]
