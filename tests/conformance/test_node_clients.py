"""OpenAI's client and the command line of the MCP inspector for Node.js, against a running web server.

`node/` has their packages, which `bin/test` installs, and a script for each thing to be tested.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kb.models import Document
from tests.conformance.gateway import PAGE, QUESTION, SOLAR, Gateway, scripted_server
from tests.conformance.streaming import running
from tests.conformance.test_functions import DONE, SAYS, WANTS
from tests.conformance.test_mcp import TOOLS
from tests.conftest import Cast
from tests.testing.chat_models import OpenAiProvider
from tests.testing.live import environment, live_worker
from tests.testing.paths import ROOT

sys.path.insert(0, str(ROOT / "bin"))

import bootstrap

pytestmark = pytest.mark.django_db(transaction=True)
INSPECTOR = Path("node_modules", "@modelcontextprotocol", "inspector-cli", "build", "cli.js")


@pytest.fixture(scope="module")
def node() -> str:
    """Return the path of a Node.js that can load the clients."""
    found = bootstrap.machine_node() or bootstrap.find_bundled_node()
    if found is None or not (bootstrap.NODE_CLIENTS / INSPECTOR).is_file():
        pytest.skip("the clients for Node.js are not installed: run “npm ci” in tests/conformance/node")
    return found[0]


def printed(node: str, script: Path, *arguments: str, **variables: str) -> str:
    """Run a script of `node/`, in its own folder, and return what it prints."""
    path = bootstrap.NODE_CLIENTS / script
    ran = subprocess.run(
        [node, path.name, *arguments],
        # The inspector looks for its package.json from where it is run.
        cwd=path.parent,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def run(node: str, script: str, gateway: Gateway) -> None:
    told = printed(node, Path(script), LOCUS=gateway.url, KEY=gateway.key, QUESTION=QUESTION)
    assert "# fail 0" in told or "ℹ fail 0" in told, told


# --- OpenAI's client ---------------------------------------------------------------------------------------


def test_answers(node: str, gateway: Gateway) -> None:
    run(node, "answers.js", gateway)


def test_files_and_stores(node: str, gateway: Gateway) -> None:
    with live_worker():
        run(node, "files.js", gateway)


def test_functions(node: str, cast: Cast, document: Document) -> None:
    with OpenAiProvider(turns=[WANTS, DONE, SAYS] * 2) as model:
        connected = {
            "GENERATION_PROVIDER": "openai-compatible",
            "GENERATION_MODEL": "llama3.2:3b",
            "GENERATION_BASE_URL": model.url,
        }
        with running(**connected) as url:
            run(node, "functions.js", Gateway(url, None, cast.keys["alice"]))
    assert model.turns == []


def test_cancelling(node: str, cast: Cast) -> None:
    with scripted_server(SCRIPT_PACE_SECS="0.2", SCRIPT_PIECES="300") as url:
        run(node, "cancelling.js", Gateway(url, None, cast.keys["alice"]))


# --- The inspector -----------------------------------------------------------------------------------------


def inspected(node: str, *arguments: str, **variables: str) -> Any:
    """Return what the inspector prints of one method."""
    return json.loads(printed(node, INSPECTOR, "--cli", *arguments, **variables))


def test_the_inspector_over_http(node: str, gateway: Gateway, document: Document) -> None:
    def asked(*arguments: str) -> Any:
        server = (f"{gateway.url}/mcp", "--transport", "http")
        return inspected(
            node, *server, "--header", f"Authorization: Bearer {gateway.key}", "--method", *arguments
        )

    def called(tool: str, *arguments: str) -> Any:
        given = [word for argument in arguments for word in ("--tool-arg", argument)]
        return asked("tools/call", "--tool-name", tool, *given)

    assert [tool["name"] for tool in asked("tools/list")["tools"]] == TOOLS
    answer = called("rag_search", f"query={QUESTION}")["structuredContent"]
    assert "42 gigawatt hours in 2023. [1]" in answer["answer"]
    assert called("web_search", f"query={QUESTION}")["structuredContent"]["results"][0]["url"] == PAGE.url
    refused = called("fetch", f"id={gateway.key}")
    assert refused["isError"] and json.loads(refused["content"][0]["text"])["error"]["code"] == "not_found"
    [resource] = asked("resources/list")["resources"]
    assert resource["uri"] == f"locus://documents/{document.pk}"
    [whole] = asked("resources/read", "--uri", resource["uri"])["contents"]
    assert " ".join(whole["text"].split()) == SOLAR
    assert len(asked("resources/templates/list")["resourceTemplates"]) == 2


def test_the_inspector_over_standard_input(node: str, cast: Cast, document: Document) -> None:
    command = (sys.executable, str(ROOT / "manage.py"), "mcp", "--user", "alice@example.org")
    listed = inspected(node, *command, "--method", "tools/list", **environment())
    assert [tool["name"] for tool in listed["tools"]] == TOOLS
