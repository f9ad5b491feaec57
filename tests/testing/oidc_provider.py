"""A provider of OpenID Connect on loopback: discovery, code with PKCE, id tokens signed by RS256, keys.

It refuses what a real one refuses: unknown clients, other redirect addresses, codes used twice or without
their verifier, wrong secrets. `person` is who logs in; `forge` changes the claims, and `sign` the signature.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.testing.loopback import Handler, LoopbackServer

CLIENT_ID, CLIENT_SECRET = "locus", "the secret of locus"
KEY_ID = "2026-11"
SECS = 300

Claims = dict[str, Any]


class OidcProvider(LoopbackServer):
    """The provider; a context manager."""

    def __init__(self, redirect_address: str) -> None:
        self.redirect_address = redirect_address
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.person: Claims = {"sub": "42", "email": "grace@example.org", "email_verified": True}
        self.forge: Callable[[Claims], Claims] = lambda claims: claims
        self.sign: Callable[[Claims], str] = self.signed
        self.info: Claims | None = None
        self.is_cancelled = False
        self.issuer: str | None = None
        self.problems: list[str] = []
        self._codes: dict[str, dict[str, str]] = {}

    def handler(self) -> type[BaseHTTPRequestHandler]:
        """Return what answers each connection."""
        provider = self

        class Answers(Handler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
                if parts.path == "/.well-known/openid-configuration":
                    self.answer(provider.description())
                elif parts.path == "/keys":
                    self.answer({"keys": [provider.public_key()]})
                elif parts.path == "/userinfo":
                    self.answer(provider.info or provider.person)
                elif parts.path == "/authorize":
                    self.send_response(302)
                    self.send_header("Location", provider.authorize(query))
                    self.end_headers()
                else:
                    self.answer({"error": "not_found"}, 404)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = {name: values[-1] for name, values in parse_qs(body).items()}
                reply = provider.exchange(form) if self.path == "/token" else None
                self.answer(reply or {"error": "invalid_grant"}, 200 if reply else 400)

            def answer(self, body: Claims, status: int = 200) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

        return Answers

    def description(self) -> Claims:
        """Return the reply of discovery."""
        return {
            "issuer": self.issuer or self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "userinfo_endpoint": f"{self.address}/userinfo",
            "jwks_uri": f"{self.address}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def public_key(self) -> Claims:
        """Return the key that tokens are verified with."""
        shown: Claims = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return shown | {"kid": KEY_ID, "use": "sig", "alg": "RS256"}

    def authorize(self, query: dict[str, str]) -> str:
        """Return where the browser is sent after the login here."""
        state = query.get("state", "")
        expected = {
            "client_id": CLIENT_ID,
            "redirect_uri": self.redirect_address,
            "response_type": "code",
            "code_challenge_method": "S256",
        }
        for name, value in expected.items():
            if query.get(name) != value:
                self.problems.append(f"{name} is {query.get(name)}")
        if "openid" not in query.get("scope", "").split() or not state or "code_challenge" not in query:
            self.problems.append(f"scope, state or code_challenge is missing: {query}")
        if self.is_cancelled:
            return f"{self.redirect_address}?{urlencode({'error': 'access_denied', 'state': state})}"
        code = secrets.token_urlsafe(16)
        self._codes[code] = query
        return f"{self.redirect_address}?{urlencode({'code': code, 'state': state})}"

    def exchange(self, form: dict[str, str]) -> Claims | None:
        """Return the tokens for a code; None refuses."""
        query = self._codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            query is None
            or challenge != query.get("code_challenge")
            or (form.get("client_id"), form.get("client_secret")) != (CLIENT_ID, CLIENT_SECRET)
            or form.get("redirect_uri") != self.redirect_address
        ):
            return None
        now = int(time.time())
        claims = {"iss": self.address, "aud": CLIENT_ID, "iat": now, "exp": now + SECS} | self.person
        token = self.sign(self.forge(claims))
        return {"access_token": "for userinfo", "token_type": "Bearer", "id_token": token}

    def signed(self, claims: Claims) -> str:
        """Return a token with these claims."""
        return jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": KEY_ID})
