"""What a document's units are called, to its readers and in the API."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from extract.base import Opened
from ingestion.extraction import ExtractionState
from ingestion.progress import ProgressWriter
from kb.models import Document


@pytest.mark.parametrize(
    ("opened", "name"),
    [
        (Opened("pdf", "application/pdf", units=3, page_count=3), "page"),
        (Opened("tiff", "image/tiff", units=2, page_count=2), "page"),
        (Opened("pptx", "", units=3, page_count=3), "slide"),
        (Opened("ods", "", units=2), "sheet"),
        (Opened("md", "text/markdown"), "part"),
        (Opened("mp4", "video/mp4", units=2, duration=120.0), "part"),
        (None, "part"),
    ],
)
def test_a_unit_has_the_name_its_readers_know(tmp_path: Path, opened: Opened | None, name: str) -> None:
    reading = ExtractionState(Document(), tmp_path, ProgressWriter(uuid4(), lambda: False), tmp_path)
    reading.opened = opened
    assert reading.unit_name == name
