"""`GET /metrics`: metrics for Prometheus, for staff and for holders of `METRICS_TOKEN` (contract §3).

Counters live in the process that counts. The processes of a host, workers too, share theirs through files in
`PROMETHEUS_MULTIPROC_DIR`, which `bin/serve` sets; each web process then reports the sums. Without it each
reports its own. Values from the database, by the collectors in `shared`, are the same in all processes.
"""

from __future__ import annotations

import hmac
import os

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from prometheus_client import REGISTRY, CollectorRegistry, disable_created_metrics
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.access.auth import PrincipalAuthentication, presented_key, raw_headers
from accounts.models import User
from accounts.principal import Principal
from accounts.roles import KeyScope
from core.errors import Forbidden, Unauthenticated
from locus.installation_metrics import InstallationFigures
from search.web.metrics import BreakerStates

TOKEN = object()
"""`request.auth` of a request with `METRICS_TOKEN`."""

# They would double the number of lines, only to give each counter's start time.
disable_created_metrics()  # type: ignore[no-untyped-call]

shared: list[Collector] = [BreakerStates(), InstallationFigures()]


class TokenAuthentication(BaseAuthentication):
    """`METRICS_TOKEN` as bearer token; it gives access to nothing else."""

    def authenticate(self, request: Request) -> tuple[None, object] | None:
        """Return `TOKEN` for the right token; leave keys and sessions to the next authentication."""
        given, token = presented_key(raw_headers(request._request)), settings.METRICS_TOKEN
        if given is None or not token or not hmac.compare_digest(given.encode(), token.encode()):
            return None
        return None, TOKEN

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge that makes REST framework answer 401 rather than 403."""
        return "Bearer"


class MayReadMetrics(BasePermission):
    """The token, or staff: logged in, or by a key with the scope `admin` and for no external user."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Raise `Unauthenticated` or `Forbidden`."""
        if request.auth is TOKEN:
            return True
        if not isinstance(request.auth, Principal):
            raise Unauthenticated
        request.auth.require_scope(KeyScope.ADMIN)
        request.auth.refuse_external_user("sees no metrics")
        if not (isinstance(request.user, User) and request.user.is_staff):
            raise Forbidden("Metrics need a staff user or METRICS_TOKEN.")
        return True


class MetricsView(APIView):
    """The metrics of this server."""

    authentication_classes = [TokenAuthentication, PrincipalAuthentication]
    permission_classes = [MayReadMetrics]

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        """Return the metrics in the format that the client prefers."""
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return HttpResponse(encode(_all()), content_type=content_type)

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[BaseRenderer, str]:
        """Accept every `Accept` header: the reply is not JSON."""
        return super().perform_content_negotiation(request, force=True)


def _all() -> CollectorRegistry:
    registry = CollectorRegistry()
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(REGISTRY)
    for collector in shared:
        registry.register(collector)
    return registry
