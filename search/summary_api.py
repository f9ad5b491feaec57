"""`/api/v1/documents/{id}/summary/written`: a summary by the model that answers."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.roles import KeyScope
from core.api.operations import operation
from kb.api.finding import visible_document
from kb.api.summary import DocumentWritten
from search.summaries import write_summary


class DocumentWrittenView(APIView):
    """What a model writes about a document."""

    # It changes nothing that others see as theirs: whoever may ask about the document may ask for this.
    required_scope = KeyScope.READ

    @operation(
        "documents_write_summary",
        tag="Documents",
        answers={200: DocumentWritten},
        fails=(402, 404, 429, 502, 503, 504),
    )
    def post(self, request: Request, id: str) -> DocumentWritten:
        """Let the model that answers write an abstract and key points, and keep them.

        Each sentence has the places that support it; a sentence without any is left out. The document's
        workspace pays. Once written it is returned without asking the model, until the document changes.
        """
        principal = principal_of(request)
        return DocumentWritten.of(write_summary(principal, visible_document(principal, id)))
