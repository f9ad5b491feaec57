"""The API reference: every operation and shape in our frame, with examples that are right."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from jsonschema import Draft202012Validator
from pytest import Subtests

from core.api.samples import BODIES, METHODS, UPLOADS
from locus.reference.shapes import limits_of, type_of
from locus.schema import built_schema
from tests.conftest import Cast

pytestmark = pytest.mark.usefixtures("static_files")


def operations() -> dict[str, Any]:
    """Return the operations of the schema by their ids."""
    return {
        operation["operationId"]: operation
        for operations in built_schema()["paths"].values()
        for method, operation in operations.items()
        if method in METHODS
    }


@pytest.mark.django_db
def test_everybody_reads_it_and_it_leads_back(cast: Cast) -> None:
    anonymous = Client().get("/api/docs").content.decode()
    assert 'href="/accounts/login/"' in anonymous
    client = Client()
    client.force_login(cast.alice)
    text = client.get("/api/docs").content.decode()
    assert 'href="/documents/"' in text
    assert "Authorization: Bearer KEY" in text
    for id in operations():
        assert f'id="{id}"' in text, id


@pytest.mark.django_db
def test_every_link_within_the_page_leads_somewhere() -> None:
    text = Client().get("/api/docs").content.decode()
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert {link for link in re.findall(r'href="#([^"]+)"', text) if link != "main"} <= set(ids)


def test_the_main_operations_have_examples_in_three_languages(subtests: Subtests) -> None:
    for id, operation in operations().items():
        with subtests.test(id):
            samples = {each["label"]: each["source"] for each in operation.get("x-codeSamples", [])}
            if "requestBody" in operation and id not in BODIES and id not in UPLOADS:
                assert not samples
                continue
            assert list(samples) == ["curl", "Python", "JavaScript"]
            compile(samples["Python"], id, "exec")
            assert "{" not in samples["curl"].split('"')[1]


def test_examples_have_the_shapes_that_the_schema_wants(subtests: Subtests) -> None:
    schema = built_schema()
    known = operations()
    for id in BODIES.keys() & known.keys():
        with subtests.test(id):
            body = known[id]["requestBody"]["content"]["application/json"]["schema"]
            Draft202012Validator(body | {"components": schema["components"]}).validate(BODIES[id])


def test_the_examples_in_javascript_can_be_parsed(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node.js on this machine")
    for id, operation in operations().items():
        for sample in operation.get("x-codeSamples", []):
            if sample["lang"] == "JavaScript":
                (tmp_path / f"{id}.mjs").write_text(sample["source"])
    # One process: a module that only imports the others would run them.
    paths = sorted(map(str, tmp_path.iterdir()))
    check = (
        "import vm from 'node:vm'; import fs from 'node:fs';"
        "for (const path of process.argv.slice(1)) new vm.SourceTextModule(fs.readFileSync(path, 'utf8'));"
    )
    options = ["--no-warnings", "--experimental-vm-modules", "--input-type=module", "-e", check]
    checked = subprocess.run([node, *options, *paths], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string", "format": "uuid"}, "UUID"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string | null"),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Chunk"}}, "list of Chunk"),
        ({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "number"}]}, "[integer, number]"),
        ({"enum": ["a", "b"]}, '"a" | "b"'),
        ({"anyOf": [{"type": "string"}, {"type": "string", "maxLength": 3}]}, "string"),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "object of number"),
        ({}, "any JSON"),
    ],
)
def test_types_in_words(schema: Any, words: str) -> None:
    assert "".join(part.text for part in type_of(schema)) == words


def test_limits_in_words() -> None:
    schema = {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 200}, {"type": "null"}], "default": 50}
    assert limits_of(schema) == "at least 1, at most 200, default 50"
