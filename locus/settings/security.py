"""Secrets, and where and to whom it answers."""

from ipaddress import ip_network

from environs import ValidationError, validate

from locus.content_policy import DIRECTIVES
from locus.settings.environment import env, secret

SECRET_KEY = secret("SECRET_KEY")
# Earlier ones: what they signed stays valid, and API keys of the first release that were not used since.
SECRET_KEY_FALLBACKS: list[str] = env.list("SECRET_KEY_FALLBACKS", [])
# API keys are stored as digests made with this, so that a new SECRET_KEY voids none (ADR 38).
KEY_PEPPER = secret("KEY_PEPPER")
# Keys of providers that administrators enter on a page are encrypted with this (core/encryption.py); what
# earlier ones encrypted can still be read.
ENCRYPTION_KEY = secret("ENCRYPTION_KEY")
ENCRYPTION_KEY_FALLBACKS: list[str] = env.list("ENCRYPTION_KEY_FALLBACKS", [])
# Read by manage.py before anything else.
ALLOW_ROOT = env.bool("ALLOW_ROOT", False)
DEBUG = env.bool("DEBUG", False)

HOST = env.str("HOST", "127.0.0.1")
PORT = env.int("PORT", 8000, validate=validate.Range(min=1, max=65535))
# This machine is always allowed: the supervisor and health checks use it.
ALLOWED_HOSTS: list[str] = [*env.list("ALLOWED_HOSTS", []), "localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])
CORS_ORIGINS: list[str] = env.list("CORS_ORIGINS", [])
BEHIND_TLS = env.bool("BEHIND_TLS", False)


def _refuse_all_but_networks(names: list[str]) -> None:
    for name in names:
        try:
            ip_network(name, strict=False)
        except ValueError:
            raise ValidationError(f"“{name}” is no IP address and no network such as 10.0.0.0/8.") from None


# Proxies whose headers about the client's address and scheme are trusted (core/http/client_address.py). With
# TLS there is a proxy, most often on this machine. Without TLS no proxy is trusted, because any local account
# could claim anything.
TRUSTED_PROXIES: list[str] = env.list("TRUSTED_PROXIES", [], validate=_refuse_all_but_networks) or (
    ["127.0.0.0/8", "::1"] if BEHIND_TLS else []
)

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
# The middleware of locus/door reads the scheme from trusted proxies.
SECURE_PROXY_SSL_HEADER = None
SECURE_SSL_REDIRECT = BEHIND_TLS
# Requested from inside, by health checks and collectors of metrics.
SECURE_REDIRECT_EXEMPT = [r"^(health|healthz|readyz|metrics)$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if BEHIND_TLS else 0
# HSTS for subdomains and preloading concern other hosts, so Locus does not decide them.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

CONTENT_SECURITY_POLICY = {"DIRECTIVES": DIRECTIVES}
