"""The pages of a person's own account: profile, address, security, sessions."""

from __future__ import annotations

from allauth.account.decorators import reauthentication_required
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout as log_out
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from accounts.access.second_factor import lacks_required_factor
from accounts.audit.recording import record
from accounts.models import AuditAction, User
from accounts.people.account_deletion import DeleteAccountForm, PlannedDeletion, delete_account
from accounts.people.address_change import ChangeAddressForm, address_in, change_address, mail_link
from accounts.people.browsers import end_sessions, sessions_of
from accounts.people.deletion import in_words
from accounts.people.export import members_of
from accounts.people.profiles import ProfileForm
from core.errors import Conflict
from core.http.zip_stream import stream_zip
from core.row_access import continue_as_system

# Who finds a browser open must not change what protects the account.
sensitive = reauthentication_required(app="allauth.mfa")


def user_of(request: HttpRequest) -> User:
    """Return the logged-in user."""
    assert isinstance(request.user, User)
    return request.user


@login_required
def profile(request: HttpRequest) -> HttpResponse:
    """Show and change name, language, formats, time zone and theme."""
    user = user_of(request)
    form = ProfileForm(request.POST or None, instance=user)
    if request.method == "POST" and form.is_valid():
        form.save()
        if form.changed_data:
            record(AuditAction.USER_CHANGED, user, target=("user", user.pk), fields=[*form.changed_data])
        messages.success(request, gettext("Saved."))
        return redirect("account_profile")
    return render(request, "accounts/account_profile.html", {"form": form, "can_mail": settings.EMAIL_HOST})


@login_required
@sensitive  # type: ignore[untyped-decorator]
def address(request: HttpRequest) -> HttpResponse:
    """Ask for a new e-mail address, and mail a link to it."""
    user = user_of(request)
    form = ChangeAddressForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        mail_link(request, user, form.cleaned_data["email"])
        return render(request, "accounts/account_address.html", {"sent_to": form.cleaned_data["email"]})
    return render(request, "accounts/account_address.html", {"form": form})


@login_required
def confirm_address(request: HttpRequest, token: str) -> HttpResponse:
    """Change the address of the account that has asked for it; only that account can use the link."""
    user, reason = user_of(request), ""
    new = address_in(token, user)
    if new and request.method == "POST":
        try:
            change_address(user, new)
        except Conflict as error:
            reason = error.message
        else:
            messages.success(request, gettext("Your email address is %(address)s now.") % {"address": new})
            return redirect("account_profile")
    shown = {"new": new, "reason": reason}
    return render(request, "accounts/account_address_confirm.html", shown, status=200 if new else 404)


@login_required
def security(request: HttpRequest) -> HttpResponse:
    """Show password, app, passkeys and recovery codes."""
    user = user_of(request)
    found = list(Authenticator.objects.filter(user=user).order_by("pk"))
    of_type = {kind: [each for each in found if each.type == kind] for kind in Authenticator.Type}
    codes = next(iter(of_type[Authenticator.Type.RECOVERY_CODES]), None)
    shown = {
        "has_password": user.has_usable_password(),
        "totp": next(iter(of_type[Authenticator.Type.TOTP]), None),
        "passkeys": [(each, each.wrap().name) for each in of_type[Authenticator.Type.WEBAUTHN]],
        "codes": codes,
        "codes_left": len(codes.wrap().get_unused_codes()) if codes else 0,
        "is_required": lacks_required_factor(user),
    }
    return render(request, "accounts/account_security.html", shown)


@login_required
def data(request: HttpRequest) -> HttpResponse:
    """Show what can be done with one's data."""
    return render(request, "accounts/account_data.html")


@login_required
@sensitive  # type: ignore[untyped-decorator]
def export(request: HttpRequest) -> HttpResponseBase:
    """Send an archive of the user's data, made while it is sent."""
    user = user_of(request)
    if request.method != "POST":
        return render(request, "accounts/account_export.html")
    continue_as_system("own data may lie in workspaces that the user has left")
    record(AuditAction.DATA_EXPORTED, user, target=("user", user.pk))
    headers = {
        "Content-Disposition": f'attachment; filename="locus-{timezone.now():%Y-%m-%d}.zip"',
        "X-Accel-Buffering": "no",
    }
    return StreamingHttpResponse(
        stream_zip(members_of(user)), content_type="application/zip", headers=headers
    )


@login_required
@sensitive  # type: ignore[untyped-decorator]
def delete(request: HttpRequest) -> HttpResponse:
    """Show what goes with the account and what blocks it, and delete it once the address is typed."""
    user = user_of(request)
    planned = PlannedDeletion.of(user)
    form = DeleteAccountForm(user, request.POST or None)
    if request.method == "POST" and form.is_valid() and planned.is_possible:
        email = user.email
        counts, is_unfinished = delete_account(user, planned)
        log_out(request)
        shown = {"receipt": in_words(counts), "email": email, "is_unfinished": is_unfinished}
        return render(request, "account/deleted.html", shown)
    shown = {"form": form, "planned": planned, "counts": in_words(planned.counts)}
    return render(request, "accounts/account_delete.html", shown)


@login_required
def sessions(request: HttpRequest) -> HttpResponse:
    """Show where the user is logged in, and log out elsewhere."""
    user = user_of(request)
    if request.method == "POST":
        id = request.POST.get("id", "")
        if id and not (id.isascii() and id.isdigit() and len(id) < 10):
            raise Http404
        ended = end_sessions(user, request, int(id) if id else None)
        record(AuditAction.LOGIN_ENDED, user, target=("user", user.pk), sessions=ended)
        words = ngettext(
            "Logged out in %(count)s other browser.", "Logged out in %(count)s other browsers.", ended
        )
        messages.success(request, words % {"count": ended})
        return redirect("account_sessions")
    return render(request, "accounts/account_sessions.html", {"sessions": sessions_of(user, request)})
