"""Pages about documents. They are shells that load their data from the API."""

from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static

from accounts.access.identity import principal_of_user
from accounts.models import User, Workspace
from kb.models import Document


def favicon(request: HttpRequest) -> HttpResponse:
    """Redirect to the icon: browsers request it for pages that name none, such as a file shown alone."""
    return redirect(static("favicon.svg"))


@login_required
def documents(request: HttpRequest) -> HttpResponse:
    """Show the list of documents, with upload and progress."""
    assert isinstance(request.user, User)
    # The script fills the choice of a workspace later; its place is there from the beginning.
    several = Workspace.objects.filter(members=request.user, deleted_at=None).count() > 1
    shown = {"undo_secs": settings.DOCUMENT_UNDO_SECS, "has_several_workspaces": several}
    return render(request, "kb/documents.html", shown)


@login_required
def document(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show one document in the viewer; `?chunk=` marks a chunk in it."""
    assert isinstance(request.user, User)
    found = Document.objects.addressable_by(principal_of_user(request.user)).filter(pk=id).first()
    if found is None:
        raise Http404
    return render(request, "kb/document.html", {"document": found})
