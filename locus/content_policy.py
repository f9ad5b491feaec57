"""The content security policy: strict, and as strict as possible for two third-party pages."""

from __future__ import annotations

from csp.constants import SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.middleware import CSPMiddleware, PolicyParts
from django.http import HttpRequest, HttpResponseBase

INLINE_STYLES = {"style-src": [SELF, UNSAFE_INLINE]}
# The admin theme's scripts evaluate expressions in attributes; inline scripts stay forbidden.
ALLOW_EVAL = {"script-src": [SELF, UNSAFE_EVAL]}
EXTRA = {"/admin/": INLINE_STYLES | ALLOW_EVAL, "/api/docs": INLINE_STYLES}


class ContentPolicyMiddleware(CSPMiddleware):
    """Sends the policy of the settings, and additions from `EXTRA`."""

    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        """Return the parts of the header."""
        parts = super().get_policy_parts(request, response, report_only)
        for prefix, extra in EXTRA.items():
            if request.path_info.startswith(prefix):
                parts.update = {**extra, **(parts.update or {})}
        return parts
