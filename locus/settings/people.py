"""People: users, logins, passwords and second factors."""

import re
import sys

from environs import ValidationError, validate

from locus.settings.environment import env

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
# Whether programs may register themselves, so that people can connect them (ADR 69).
OAUTH_REGISTRATION_OPEN = env.bool("OAUTH_REGISTRATION_OPEN", True)
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
