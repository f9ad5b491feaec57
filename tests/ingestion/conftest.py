"""Documents as uploads leave them, and the means to look at what became of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.files.base import ContentFile

from accounts.access.identity import principal_of_user
from accounts.models import Workspace
from kb.documents import Details, add_document
from kb.models import Document
from tests.conftest import Cast
from tests.testing.paths import SAMPLES

Upload = Callable[..., Document]


def upload_to(workspace: Workspace, content: bytes, name: str) -> Document:
    """Add a document as the owner of the workspace would; its job waits for a worker."""
    owner = workspace.memberships.get(role="owner").user
    document, _ = add_document(
        principal_of_user(owner), ContentFile(content, name=name), Details(workspace.pk)
    )
    return document


@pytest.fixture
def upload(cast: Cast) -> Upload:
    """Upload a sample, or given bytes, to the team workspace."""

    def upload(name: str, content: bytes | None = None) -> Document:
        return upload_to(cast.team, content if content is not None else (SAMPLES / name).read_bytes(), name)

    return upload
