"""Mails, and what they say about where Locus is."""

from environs import validate

from locus.settings.environment import env
from locus.settings.security import ALLOWED_HOSTS, BEHIND_TLS

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
