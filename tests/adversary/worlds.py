"""Random worlds: drawn by hypothesis as plain numbers, and stored by a few bulk inserts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any
from uuid import uuid4

from hypothesis import strategies as st

from accounts.access.keys import create_key
from accounts.models import ApiKey, Membership, Session, User, Workspace
from accounts.principal import Principal
from accounts.roles import KeyScope, Role
from kb.changes import Changes, change
from kb.models import Chunk, Document, Searchable, Segment, Stage, Status
from runs.models import Execution, ExecutionStatus
from tests.adversary.reference import Asker, Paper, Personal

USERS, SHARED = 3, 2
PLACES = USERS + SHARED
"""The first workspaces are personal, one for each user."""
NOWHERE = NOBODY = -1
"""Where deleted things are, and whose."""
EXTERNALS = (None, None, "x", "y")
WORD = "quince"
TEXT = f"A {WORD} tree."

users, places = st.integers(0, USERS - 1), st.integers(0, PLACES - 1)
externals = st.sampled_from(EXTERNALS)
roles = st.sampled_from([None, *Role])
# Mostly none: what nobody sees proves little.
narrowings = st.one_of(st.none(), st.none(), st.frozensets(places, max_size=3))
# In the user's own workspace, or a shared one.
executions = st.tuples(users, places, externals).map(
    lambda each: each if each[1] >= USERS else (each[0], each[0], each[2])
)


@dataclass(frozen=True)
class Plan:
    """What a world holds, by numbers of users, workspaces and sessions."""

    memberships: Sequence[Role | None]
    """The role of each user in each shared workspace; of the first user in all, then of the second …"""
    shared: frozenset[int]
    """The workspaces that show their documents to external users."""
    sessions: Sequence[tuple[int, int, str | None]]
    documents: Sequence[tuple[int, str | None, int | None]]
    executions: Sequence[tuple[int, int, str | None]]
    askers: Sequence[tuple[int, str | None, frozenset[int] | None, int | None]]
    """User, external user, the workspaces that the key is narrowed to, and the session it asks in."""
    changes: Sequence[tuple[str, int, Any]]
    """What happens after everybody has asked once: its kind, a number, and a value."""


CHANGES = st.one_of(
    st.tuples(st.just("move"), st.integers(0, 5), places),
    st.tuples(st.just("role"), st.integers(0, USERS * SHARED - 1), roles),
    st.tuples(st.just("share"), places, st.booleans()),
    st.tuples(st.just("narrow"), st.integers(0, 2), narrowings),
    st.tuples(st.just("delete session"), st.integers(0, 1), st.none()),
)
PLANS = st.builds(
    Plan,
    memberships=st.lists(roles, min_size=USERS * SHARED, max_size=USERS * SHARED),
    shared=st.frozensets(places),
    sessions=st.lists(st.tuples(users, places, externals), max_size=2),
    documents=st.lists(st.tuples(places, externals, st.none() | st.integers(0, 1)), min_size=1, max_size=6),
    executions=st.lists(executions, max_size=2),
    askers=st.lists(
        st.tuples(users, externals, narrowings, st.none() | st.integers(0, 1)), min_size=2, max_size=3
    ),
    changes=st.lists(CHANGES, max_size=3),
)


@dataclass(frozen=True)
class StoredSegment:
    """The index of one document with `TEXT`: what all of them have alike."""

    template: Segment

    def of(self, document: Document, chunk: Chunk) -> Segment:
        """Return the same for another document."""
        fields = ("version", "size", "document_of", "lengths", "languages", "analysis", "terms", "postings")
        return Segment(
            document=document,
            workspace_id=document.workspace_id,
            external_user_id=document.external_user_id,
            session_id=document.session_id,
            chunk_ids=chunk.pk.bytes,
            document_ids=[document.pk],
            **{name: getattr(self.template, name) for name in fields},
        )


class RandomWorld:
    """A stored world, and what the reference model must know of it."""

    def __init__(self, plan: Plan, template: Document, index: StoredSegment) -> None:
        self.plan, self._template, self._index = plan, template, index
        self.roles = dict(zip(product(range(USERS), range(SHARED)), plan.memberships, strict=True))
        self.shared = set(plan.shared)
        self._store_people()
        self.sessions = [self._session(*each) for each in plan.sessions]
        self._store_documents()
        self._store_executions()
        self.narrowings = [each[2] for each in plan.askers]
        self.keys = [self._key(user, narrowed) for user, _, narrowed, _ in plan.askers]

    # --- Rows ---

    def _store_people(self) -> None:
        self.users = [User(email=f"{uuid4().hex}@example.org", password="!") for _ in range(USERS)]
        User.objects.bulk_create(self.users)
        own = [Workspace(name="own", personal_of=user) for user in self.users]
        self.workspaces = own + [Workspace(name="shared") for _ in range(SHARED)]
        for number in self.shared:
            self.workspaces[number].share_with_external_users = True
        Workspace.objects.bulk_create(self.workspaces)
        owners = [
            Membership(user=u, workspace=w, role=Role.OWNER) for u, w in zip(self.users, own, strict=True)
        ]
        Membership.objects.bulk_create(
            owners + [self._member(*who) for who, role in self.roles.items() if role]
        )

    def _member(self, user: int, shared: int) -> Membership:
        role = self.roles[user, shared]
        assert role is not None
        return Membership(user=self.users[user], workspace=self.workspaces[USERS + shared], role=role)

    def _session(self, user: int, place: int, external: str | None) -> Personal:
        row = Session.unscoped.create(
            user=self.users[user], workspace=self.workspaces[place], external_user_id=external
        )
        return Personal(row.pk, user, place, external)

    def _store_documents(self) -> None:
        self.papers, rows, chunks, segments = [], [], [], []
        for place, external, number in self.plan.documents:
            session = self.sessions[number] if number is not None and number < len(self.sessions) else None
            row = Document(
                workspace=self.workspaces[place],
                external_user_id=external,
                session_id=session and session.id,
                name="q.pdf",
                file=self._template.file.name,
                size=self._template.size,
                identity=uuid4().hex,
                sha256=uuid4().hex,
                status=Status.READY,
                stage=Stage.DONE,
                searchable=Searchable.FULL,
                page_count=1,
                file_type="pdf",
                chunk_count=1,
                language="en",
            )
            chunk = Chunk(
                id=uuid4(),
                document=row,
                workspace_id=row.workspace_id,
                external_user_id=external,
                session_id=row.session_id,
                ordinal=0,
                text=TEXT,
                sentences=[[0, len(TEXT)]],
                language="en",
            )
            self.papers.append(Paper(row.pk, place, external, session))
            rows.append(row)
            chunks.append(chunk)
            segments.append(self._index.of(row, chunk))
        self.chunks = [chunk.pk for chunk in chunks]
        Document.unscoped.bulk_create(rows)
        Chunk.unscoped.bulk_create(chunks)
        Segment.unscoped.bulk_create(segments)

    def _store_executions(self) -> None:
        rows = [
            Execution(
                tool="rag_search",
                user=self.users[user],
                workspace=self.workspaces[place],
                external_user_id=external,
                inputs={"query": WORD},
                status=ExecutionStatus.COMPLETED,
                result={"response": WORD},
            )
            for user, place, external in self.plan.executions
        ]
        Execution.unscoped.bulk_create(rows)
        self.executions = [Personal(row.pk, *of) for row, of in zip(rows, self.plan.executions, strict=True)]

    def _key(self, user: int, narrowed: frozenset[int] | None) -> tuple[ApiKey, str]:
        to = None if narrowed is None else [self.workspaces[number] for number in sorted(narrowed)]
        return create_key(self.users[user], "key", scopes=KeyScope.values, workspaces=to)

    # --- Who asks ---

    def askers(self) -> list[tuple[Asker, dict[str, str]]]:
        """Return each asker as the reference model sees it, and the headers it sends."""
        return [self._asker(number, *each[:2], each[3]) for number, each in enumerate(self.plan.askers)]

    def _asker(
        self, number: int, user: int, external: str | None, session: int | None
    ) -> tuple[Asker, dict[str, str]]:
        mine = {user} | {USERS + shared for (who, shared), role in self.roles.items() if who == user and role}
        narrowed = self.narrowings[number]
        inside = self.sessions[session].id if session is not None and session < len(self.sessions) else None
        headers = {"X-API-KEY": self.keys[number][1]}
        headers |= {"X-External-User-Id": external} if external else {}
        asker = Asker(user, mine if narrowed is None else mine & narrowed, external, inside)
        return asker, headers

    # --- What happens ---

    def happen(self) -> None:
        """Let everything happen that the plan has, in rows and in what the model knows."""
        happenings: Mapping[str, Any] = {
            "move": self._move,
            "role": self._change_role,
            "share": self._share,
            "narrow": self._narrow,
            "delete session": self._delete_session,
        }
        for kind, number, value in self.plan.changes:
            happenings[kind](number, value)

    def _move(self, number: int, place: int) -> None:
        if number >= len(self.papers) or self.papers[number].workspace == NOWHERE:
            return
        paper, target = self.papers[number], self.workspaces[place].pk
        everywhere = Principal(user_id=self.users[0].pk, roles={target: Role.OWNER})
        change(everywhere, Document.unscoped.get(pk=paper.id), Changes(workspace_id=target))
        self.papers[number] = Paper(paper.id, place, paper.external, paper.session)

    def _change_role(self, number: int, role: Role | None) -> None:
        user, shared = divmod(number, SHARED)
        self.roles[user, shared] = role
        at = {"user": self.users[user], "workspace": self.workspaces[USERS + shared]}
        Membership.objects.filter(**at).delete()
        if role:
            self._member(user, shared).save()

    def _share(self, place: int, is_open: bool) -> None:
        Workspace.objects.filter(pk=self.workspaces[place].pk).update(share_with_external_users=is_open)
        self.shared = self.shared | {place} if is_open else self.shared - {place}

    def _narrow(self, number: int, to: frozenset[int] | None) -> None:
        if number >= len(self.keys):
            return
        key = self.keys[number][0]
        key.narrowed = to is not None
        key.save(update_fields=["narrowed"])
        key.workspaces.set([self.workspaces[place] for place in to or ()])
        self.narrowings[number] = to

    def _delete_session(self, number: int, _: None) -> None:
        """The conversation ends, and what is attached to it goes along."""
        if number >= len(self.sessions) or self.sessions[number].user == NOBODY:
            return
        gone = self.sessions[number]
        Session.unscoped.get(pk=gone.id).delete()
        self.sessions[number] = Personal(uuid4(), NOBODY, gone.workspace, gone.external)
        for index, paper in enumerate(self.papers):
            if paper.session == gone:
                self.papers[index] = Paper(paper.id, NOWHERE, paper.external, self.sessions[number])
