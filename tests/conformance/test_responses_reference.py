"""The examples of the references of other people's protocols run as they stand, and name every address."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from assistants.gateway.mcp.tools import TOOLS
from locus.urls import gateway
from tests.conformance.streaming import running
from tests.conftest import make_cast
from tests.factories import indexed_document
from tests.testing.live import live_worker
from tests.testing.paths import ROOT

pytestmark = pytest.mark.django_db(transaction=True)
REFERENCES = [ROOT / "docs/reference" / name for name in ("responses.md", "file-search.md")]
TEXT = "\n".join(path.read_text("utf-8") for path in REFERENCES)
BLOCKS = re.findall(r"^```(sh|python|js)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
PREFACE = {
    "python": "import os\nLOCUS, KEY = os.environ['LOCUS'], os.environ['KEY']\n",
    "js": "const { LOCUS, KEY } = process.env;\n",
    "sh": "",
}
COMMANDS = {"python": [sys.executable, "-c"], "js": ["node", "--input-type=module", "-e"], "sh": ["sh", "-c"]}


@pytest.fixture(scope="module")
def url(django_db_setup: None) -> Iterator[str]:
    with running() as url, live_worker():
        yield url


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_examples_run(url: str, number: int) -> None:
    language, code = BLOCKS[number]
    if shutil.which(COMMANDS[language][0]) is None:
        pytest.skip(f"there is no {COMMANDS[language][0]} here")
    cast = make_cast()
    indexed_document(cast.team)
    ran = subprocess.run(
        [*COMMANDS[language], PREFACE[language] + code],
        env=os.environ | {"LOCUS": url, "KEY": cast.keys["alice"]},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    assert "42 gigawatt hours in 2023. [1]" in ran.stdout


def test_every_address_and_tool_is_named() -> None:
    addresses = {"/" + re.sub(r"<\w+:(\w+)>", r"{\1}", str(pattern.pattern)) for pattern in gateway}
    assert [address for address in addresses if f"{address}`" not in TEXT] == []
    assert [tool for tool in TOOLS if f"`{tool}`" not in TEXT] == []
