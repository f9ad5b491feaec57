"""The reference of the tools tells all there is, and its examples have the shapes of the API's schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from django.test import Client
from jsonschema import Draft202012Validator

from core import errors
from runs.transports.websocket import BusyError
from search.events import Phase
from search.web.base import Outcome
from search.web.events import PhaseName
from tests.conformance.streaming import validator
from tests.testing.paths import ROOT

TEXT = (ROOT / "docs/reference/tools.md").read_text("utf-8")


@pytest.fixture(scope="module")
def schema() -> Any:
    return Client().get("/api/schema", {"format": "json"}).json()


def examples() -> Iterator[Any]:
    for block in re.findall(r"^```(?:json)?\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith(("data: ", "{")):
                yield json.loads(line.removeprefix("data: "))


@pytest.mark.parametrize("example", [*examples()], ids=lambda each: json.dumps(each)[:40])
def test_examples_have_the_shapes_of_the_schema(example: dict[str, Any], schema: Any) -> None:
    if example.get("event") == "_delta_sse":
        validator("delta_sse").validate(example)
        return
    name = "ToolEvent" if "event" in example else "ErrorBody" if "error" in example else "Accepted"
    told = {key: value for key, value in example.items() if key not in {"seq", *_addressed(example)}}
    components = {"components": schema["components"]}
    Draft202012Validator({"$ref": f"#/components/schemas/{name}"} | components).validate(told)


def _addressed(example: dict[str, Any]) -> set[str]:
    """Return what a websocket's message has beside the event."""
    return {"execution_id"} if "event" in example else set()


def test_every_path_is_told(schema: Any) -> None:
    paths = [path for path in schema["paths"] if re.match(r"/api/v1/(tools|executions)", path)]
    assert len(paths) == 8
    assert [path for path in paths if f"{path}`" not in TEXT] == []


def test_every_code_outcome_and_phase_is_told() -> None:
    kinds = [each for each in vars(errors).values() if isinstance(each, type)]
    codes = {each.code for each in kinds if issubclass(each, errors.LocusError) and hasattr(each, "code")}
    phases = {*get_args(PhaseName), *get_args(Phase.model_fields["phase"].annotation)}
    told = set(re.findall(r"`([a-z_]+)`", TEXT)) | set(re.findall(r"`phase: ([A-Z_]+)`", TEXT))
    assert {*codes, BusyError.code, *map(str, Outcome), *phases} - told == set()
