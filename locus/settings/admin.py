"""The admin panel."""

from django.templatetags.static import static
from django.urls import reverse_lazy

UNFOLD = {
    "SITE_TITLE": "Locus",
    "SITE_HEADER": "Locus",
    "SITE_SUBHEADER": "Administration",
    "SITE_ICON": lambda _: static("favicon.svg"),
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": lambda _: static("favicon.svg")}],
    "SITE_URL": "/",
    "SHOW_HISTORY": True,
    # frontend/css/admin-theme.css has the colours.
    "COLORS": {"base": {}, "primary": {}, "font": {}},
    "STYLES": [lambda _: static("admin.css")],
    "SCRIPTS": [lambda _: static("admin.js")],
    "ACCOUNT": {"navigation": [{"title": "Back to Locus", "link": reverse_lazy("ask")}]},
    "SIDEBAR": {
        "show_search": True,
        "command_search": True,
        "navigation": "locus.admin_navigation.navigation",
    },
}
