"""Static files: our own compressed, so that a first start is quick."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings
from django.test import Client

from tests.testing.paths import ROOT


def test_only_our_own_files_are_compressed(static_files: None) -> None:
    """Compressing the files of libraries took half a minute of the first start."""
    root = Path(settings.STATIC_ROOT)
    compressed = {path.relative_to(root) for path in root.rglob("*.gz")}
    assert {path.parent for path in compressed} == {Path()}
    assert any(path.name.startswith("app.") for path in compressed)
    assert (root / "unfold").is_dir()


def test_every_page_has_the_script_it_names() -> None:
    templates = (ROOT / "templates").rglob("*.html")
    named = {page for file in templates for page in re.findall(r'data-page="(\w+)"', file.read_text())}
    assert named == {file.stem for file in (ROOT / "frontend" / "src" / "pages").iterdir()}


def test_a_page_asks_for_its_script_and_its_parts_at_once(client: Client, static_files: None) -> None:
    page = client.get("/api/docs").content.decode()
    assert 'data-page="reference"' in page
    assert re.search(r'<script type="module" src="/static/page-reference\.[0-9a-f]{12}\.js">', page)
    parts = re.findall(r'<link rel="modulepreload" href="/static/([^"]+)">', page)
    assert parts, "no parts are preloaded"
    for part in parts:
        assert (Path(settings.STATIC_ROOT) / part).is_file()


def test_what_is_named_by_its_content_is_kept_by_browsers(client: Client, static_files: None) -> None:
    page = client.get("/api/docs").content.decode()
    named = re.findall(r'"(/static/(?:app|chunk)[^"]+\.(?:js|css))"', page)
    assert {address.split("/")[-1][:3] for address in named} == {"app", "chu"}
    for address in named:
        assert re.search(settings.SERVESTATIC_IMMUTABLE_FILE_TEST, address), address
    assert not re.search(settings.SERVESTATIC_IMMUTABLE_FILE_TEST, "/static/icons.svg")
