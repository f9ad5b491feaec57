"""Whatever a client sends, the API answers as its schema says: schemathesis asks the running web server."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import schemathesis
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, given, seed, settings
from pytest import Subtests
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from accounts.access.identity import principal_of_user
from runs.lifecycle import begin
from runs.models import Execution, ExecutionStatus
from runs.registry import tool_named
from tests.conftest import Cast, make_cast
from tests.factories import chunk_id, indexed_document
from tests.testing.live import live_server

pytestmark = pytest.mark.django_db(transaction=True)
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
PATIENCE_SECS = 60
SEED = 15


@dataclass
class AnyRequest:
    """Sends drawn requests with a valid key, and compares each reply with the schema."""

    url: str
    cast: Cast
    statuses: defaultdict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))

    def check(self, operation: Any, examples: int, mode: GenerationMode) -> None:
        """Send so many requests of one operation: such as its schema allows, or such as it does not."""
        things = self._things()
        health = list(HealthCheck)

        @seed(SEED)
        @settings(max_examples=examples, suppress_health_check=health, phases=[Phase.generate])
        @given(operation.as_strategy(generation_mode=mode))
        def answers_as_declared(case: Any) -> None:
            self._send(case, things)

        answers_as_declared()

    def _send(self, case: Any, things: dict[str, str]) -> None:
        before = case.path.strip("/").split("/")[2:3]
        # Half of them are for what exists.
        if "id" in case.path_parameters and before and len(str(case.query)) % 2 == 0:
            case.path_parameters["id"] = things.get(before[0], case.path_parameters["id"])
        if "name" in case.path_parameters:
            case.path_parameters["name"] = "rag_search"
        headers = self.cast.headers("alice")
        response = case.call(base_url=self.url, headers=headers, timeout=PATIENCE_SECS)
        self.statuses[f"{case.method} {case.path}"][response.status_code] += 1
        is_stream = "text/event-stream" in str(response.headers.get("content-type"))
        # It takes the schema for that of whole frames; ours is that of the JSON in them.
        case.validate_response(response, checks=CHECKS[:-1] if is_stream else CHECKS)

    def _things(self) -> dict[str, str]:
        """Return new things of alice's, by the segment of a path: the last ones may be deleted."""
        document = indexed_document(self.cast.team)
        principal, tool = principal_of_user(self.cast.alice), tool_named("rag_search")
        execution = begin(principal, tool, tool.parse(principal, {"query": "solar"}), None)
        Execution.unscoped.filter(pk=execution.pk).update(status=ExecutionStatus.CANCELLED)
        return {
            "documents": str(document.pk),
            "chunks": str(chunk_id(document)),
            "executions": execution.pk,
            "workspaces": str(self.cast.team.pk),
        }


@pytest.fixture
def any_request(transactional_db: None) -> Iterator[AnyRequest]:
    cast = make_cast()
    with live_server() as server:
        yield AnyRequest(server.url, cast)


def operations() -> list[Any]:
    """Return the operations of the schema as schemathesis knows them."""
    generated = SchemaGenerator().get_schema(request=None, public=True)
    found = schemathesis.openapi.from_dict(generated).get_all_operations()
    return [each.ok() for each in found if isinstance(each, Ok)]


def ask_everything(any_request: AnyRequest, examples: int, subtests: Subtests) -> None:
    """Send so many requests of each operation."""
    for operation in operations():
        with subtests.test(operation=f"{operation.method.upper()} {operation.path}"):
            any_request.check(operation, examples, GenerationMode.POSITIVE)
            any_request.check(operation, examples // 2, GenerationMode.NEGATIVE)
    assert sum(1 for counts in any_request.statuses.values() if any(s < 300 for s in counts)) > 20


def test_a_few_requests_of_each_operation(any_request: AnyRequest, subtests: Subtests) -> None:
    ask_everything(any_request, 5, subtests)


@pytest.mark.slow("requests")
def test_many_requests_of_each_operation(any_request: AnyRequest, subtests: Subtests) -> None:
    ask_everything(any_request, 100, subtests)
