"""The parts of Django: applications, middleware, templates, languages."""

from environs import validate

from core.languages import LANGUAGES as PAGE_LANGUAGES
from core.languages import SOURCE_LANGUAGE
from core.languages.catalogs import compiled_catalogs
from locus.settings.environment import BASE_DIR, DATA_DIR, env

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
    "accounts.access.writes.remember_writes",
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
