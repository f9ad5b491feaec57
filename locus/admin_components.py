"""The admin page of providers and models, and the test of one of them."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from django.contrib.admin import AdminSite
from django.core.exceptions import ImproperlyConfigured, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views.decorators.http import require_GET, require_POST

from accounts.audit.recording import record
from accounts.ledger.base import Payer
from accounts.ledger.paying import LedgerPayment
from accounts.models import AuditAction, User
from core.errors import LocusError
from core.languages.numbers import price
from locus.components.base import Component, TrialFailed
from locus.components.listing import component_groups
from search.web.base import ProviderFailed

VIEW, TEST = "locus.view_components", "locus.test_components"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """The outcome of a test as the page shows it."""

    code: str
    is_good: bool
    words: str
    secs: float
    cost: Decimal | None

    @property
    def cost_in_words(self) -> str:
        """What it cost."""
        if self.cost is None:
            return "at an unknown cost"
        return f"for {price(self.cost)}" if self.cost else "at no cost"


@require_GET
def components_page(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """Show all components."""
    _require(request, VIEW)
    return _page(request, site, None)


@require_POST
def test_component(request: HttpRequest, site: AdminSite, code: str) -> HttpResponse:
    """Make one real small call of a component, and show what came of it; nothing of it is stored."""
    user = _require(request, TEST)
    workspace_id = user.personal_workspace.pk
    groups = component_groups(workspace_id)
    known = {each.code: each for group in groups for each, _ in group.components}
    component = known.get(code)
    if component is None or component.trial is None:
        raise Http404
    payment = LedgerPayment(partial(Payer.of, workspace_id))
    outcome = try_component(component, payment)
    record(AuditAction.COMPONENT_TESTED, user, target=("component", code), is_good=outcome.is_good)
    return _page(request, site, outcome)


def try_component(component: Component, payment: LedgerPayment) -> TrialOutcome:
    """Return the outcome of a component's test."""
    assert component.trial is not None
    started = time.monotonic()
    cost: Decimal | None = Decimal(0)
    try:
        result = component.trial(payment)
        is_good, words, cost = True, result.words, result.cost
    except (TrialFailed, ImproperlyConfigured) as error:
        is_good, words = False, str(error)
    except (LocusError, ProviderFailed) as error:
        # The cause is for administrators, the error itself for those who ask.
        is_good, words, cost = False, str(error.__cause__ or error.message), None
    except TimeoutError:
        is_good, words, cost = False, "It did not answer in a minute.", None
    except Exception as error:
        logger.exception("The test of %s failed", component.code)
        is_good, words = False, f"{type(error).__name__}. The server's log says more."
    return TrialOutcome(component.code, is_good, words, time.monotonic() - started, cost)


def _page(request: HttpRequest, site: AdminSite, outcome: TrialOutcome | None) -> HttpResponse:
    user = _require(request, VIEW)
    shown = {
        "title": "Providers and models",
        "groups": component_groups(user.personal_workspace.pk),
        "outcome": outcome,
        "may_test": user.has_perm(TEST),
    }
    return TemplateResponse(request, "locus/admin_components.html", site.each_context(request) | shown)


def _require(request: HttpRequest, permission: str) -> User:
    if not isinstance(request.user, User) or not request.user.has_perm(permission):
        raise PermissionDenied
    return request.user
