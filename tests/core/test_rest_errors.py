"""What a view raises becomes an error of ours."""

from __future__ import annotations

import pytest
from django.db import DatabaseError

from core.api.rest import as_locus_error
from core.errors import NotFound
from kb.models import Document
from tests.conftest import Cast
from tests.factories import stored_document


@pytest.mark.django_db
def test_what_another_request_has_deleted_meanwhile_is_not_found(cast: Cast) -> None:
    document = stored_document(cast.team, "a.txt", b"a", [])
    Document.unscoped.filter(pk=document.pk).delete()
    with pytest.raises(DatabaseError) as raised:
        document.save(update_fields=["name"])
    assert isinstance(as_locus_error(raised.value), NotFound)
    assert as_locus_error(DatabaseError("another")) is None
