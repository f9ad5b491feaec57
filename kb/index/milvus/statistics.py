"""How often terms stand in each scope: PostgreSQL's part of an index that lies elsewhere.

A principal's scopes are read by the rule of documents. So the filter of its searches and the weights of its
words come from one place, and depend on nothing that it may not see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from django.db import connection, transaction

from accounts.principal import Principal
from core.row_access import as_system
from kb.index.merging import add_terms
from kb.index.postings import OFFSET
from kb.index.segments import ScopeKey
from kb.index.words import inverse_frequency
from kb.models import Document, IndexedDocument, IndexedScope, ScopeTerm

ADD = """
    INSERT INTO kb_scopeterm (scope_id, term, chunks)
    SELECT %s, term, chunks FROM unnest(%s::text[], %s::bigint[]) AS new (term, chunks) ORDER BY term
    ON CONFLICT (scope_id, term) DO UPDATE SET chunks = kb_scopeterm.chunks + excluded.chunks
"""
REMOVE_UNUSED = (
    "DELETE FROM kb_scopeterm WHERE scope_id = %s AND chunks <= 0 AND term = ANY(%s) RETURNING term"
)
SUM = """
    UPDATE kb_indexedscope SET chunks = chunks + %s, length = length + %s,
        languages = ARRAY(SELECT DISTINCT unnest(languages || %s::varchar[]) ORDER BY 1)
    WHERE id = %s
"""
FREQUENCIES = """
    SELECT term, sum(chunks)::bigint FROM kb_scopeterm
    WHERE scope_id = ANY(%s) AND term = ANY(%s) GROUP BY term
"""
SIMILAR = """
    WITH alike AS MATERIALIZED (
        SELECT text, similarity(text, %(term)s) AS trigrams FROM kb_term WHERE text %% %(term)s
        ORDER BY trigrams DESC, text
    )
    SELECT text, trigrams FROM alike
    WHERE EXISTS (SELECT FROM kb_scopeterm WHERE scope_id = ANY(%(scopes)s) AND term = text)
    LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class DocumentTerms:
    """What a document adds to its scope: in how many chunks each term stands, and the sums."""

    chunks: int
    length: int
    counts: Mapping[str, int]
    languages: Collection[str] = ()


def visible_scopes(principal: Principal, workspaces: Collection[UUID] | None) -> list[IndexedScope]:
    """Return the scopes that a principal may search, perhaps of some workspaces only."""
    scopes = IndexedScope.objects.restricted_to(principal).filter(chunks__gt=0)
    if workspaces is not None:
        scopes = scopes.filter(workspace_id__in=workspaces)
    return list(scopes.order_by("pk"))


@dataclass(slots=True)
class ScopeLexicon:
    """The terms of some scopes (`kb.index.words.KnownTerms`)."""

    scopes: Sequence[IndexedScope]
    _frequencies: dict[str, int] = field(default_factory=dict)

    @property
    def mean_length(self) -> float:
        """How many terms a chunk has."""
        return sum(scope.length for scope in self.scopes) / max(1, self._chunks)

    def load(self, terms: Iterable[str]) -> None:
        """Read in how many chunks these terms stand."""
        wanted = sorted(set(terms))
        # The scopes were read by the principal's rule. Checking each term's scope again would take longer.
        with as_system("counts terms of scopes that the caller may search"), connection.cursor() as cursor:
            cursor.execute(FREQUENCIES, [self._ids, wanted])
            self._frequencies.update(dict.fromkeys(wanted, 0) | dict(cursor.fetchall()))

    def holds(self, term: str) -> bool:
        """Return whether any chunk has the term."""
        return self._frequencies[term] > 0

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a term."""
        return inverse_frequency(self._chunks, self._frequencies[term])

    def similar_term(self, term: str, least: float) -> tuple[str, float] | None:
        """Return the term that shares most trigrams with `term`, and its similarity: `least` to 1."""
        reason = "looks for terms of scopes that the caller may search"
        with as_system(reason), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('pg_trgm.similarity_threshold', %s, true)", [str(least)])
            cursor.execute(SIMILAR, {"scopes": self._ids, "term": term})
            found = cursor.fetchone()
        if found is None:
            return None
        self.load([found[0]])
        return found[0], found[1]

    @property
    def _chunks(self) -> int:
        return sum(scope.chunks for scope in self.scopes)

    @property
    def _ids(self) -> list[int]:
        return [scope.pk for scope in self.scopes]


def scope_of(document: Document) -> IndexedScope:
    """Return the row of a document's scope; make it if it is the first one there."""
    return IndexedScope.unscoped.get_or_create(**ScopeKey.of(document)._asdict())[0]


def record(
    document_id: UUID, scope: IndexedScope, terms: DocumentTerms, space_ids: Collection[int]
) -> list[str]:
    """Count a document's terms in its scope in place of those that it had; return terms that are now gone.

    To be called in the transaction that settles the document's change.
    """
    gone = remove(document_id)
    _add(scope.pk, terms, 1)
    IndexedDocument.objects.create(
        document_id=document_id,
        scope=scope,
        chunks=terms.chunks,
        length=terms.length,
        space_ids=sorted(space_ids),
        terms="\n".join(terms.counts),
        counts=np.array(list(terms.counts.values()), OFFSET).tobytes(),
    )
    add_terms(terms.counts)
    return [term for term in gone if term not in terms.counts]


def remove(document_id: UUID) -> list[str]:
    """Take a document's terms from the counts of its scope; return those that no chunk has any more."""
    before = IndexedDocument.objects.filter(pk=document_id).first()
    if before is None:
        return []
    names = before.terms.split("\n") if before.terms else []
    counts = np.frombuffer(before.counts, OFFSET).tolist()
    gone = _add(
        before.scope_id,
        DocumentTerms(before.chunks, before.length, dict(zip(names, counts, strict=True))),
        -1,
    )
    before.delete()
    return gone


def count_terms(chunks: Iterable[Sequence[str]]) -> Counter[str]:
    """Return in how many of the chunks each term stands."""
    counts: Counter[str] = Counter()
    for terms in chunks:
        counts.update(set(terms))
    return counts


def _add(scope_id: int, terms: DocumentTerms, sign: int) -> list[str]:
    names = list(terms.counts)
    with connection.cursor() as cursor:
        # The scope's row first: who changes the same scope waits here, so that no two can deadlock.
        cursor.execute(SUM, [sign * terms.chunks, sign * terms.length, sorted(terms.languages), scope_id])
        cursor.execute(ADD, [scope_id, names, [sign * terms.counts[name] for name in names]])
        if sign > 0:
            return []
        cursor.execute(REMOVE_UNUSED, [scope_id, names])
        return [term for (term,) in cursor.fetchall()]


def forget_all() -> None:
    """Remove all counts."""
    ScopeTerm.objects.all()._raw_delete("default")
    IndexedDocument.objects.all()._raw_delete("default")
    IndexedScope.unscoped.all()._raw_delete("default")
