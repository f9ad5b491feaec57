"""Invitations by e-mail, where the server has a mail server; elsewhere the link is handed over by hand."""

from __future__ import annotations

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from rest_framework.request import Request

from accounts.models import Invitation
from accounts.roles import ROLE_NAMES, Role


def invitation_link(request: HttpRequest | Request, secret: str) -> str:
    """Return the address of the page that accepts an invitation."""
    return request.build_absolute_uri(reverse("invitation", kwargs={"secret": secret}))


def mail_invitation(request: HttpRequest | Request, invitation: Invitation, secret: str) -> bool:
    """Send an invitation to its address, in a thread; return False if it has none or no mail goes out."""
    if not invitation.email or not settings.EMAIL_HOST:
        return False
    plain = request._request if isinstance(request, Request) else request
    get_adapter(plain).send_mail(
        "accounts/email/invitation",
        invitation.email,
        {
            "invitation": invitation,
            "role": ROLE_NAMES[Role(invitation.role)],
            "link": invitation_link(plain, secret),
        },
    )
    return True
