"""The demo workspace: a guide to the product, about which questions can be asked."""

from pathlib import Path

from django.core.files.base import File

from accounts.access.identity import principal_of_user
from accounts.models import User, Workspace
from kb.documents import Details, add_document

GUIDE = Path(__file__).parent / "guide.pdf"
WORKSPACE = "Demo"
NAME = "A guide to Locus.pdf"


def ensure_demo(user: User) -> Workspace:
    """Create a demo workspace that holds the guide for the user, unless it exists."""
    workspace = user.workspaces.filter(name=WORKSPACE).first() or Workspace.create_for(user, name=WORKSPACE)
    with GUIDE.open("rb") as guide:
        add_document(principal_of_user(user), File(guide, name=NAME), Details(workspace.pk))
    return workspace
