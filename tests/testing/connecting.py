"""A program that people connect by OAuth, as its requests look."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from django.test import Client

REDIRECT = "http://127.0.0.1:3333/callback"
VERIFIER = "v" * 64
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
RESOURCE = "http://testserver/mcp"
FORM = "application/x-www-form-urlencoded"


@dataclass
class TestProgram:
    """Speaks to the server by Django's client; `browser` is that of the person who connects it."""

    __test__ = False
    client_id: str
    redirect_uri: str = REDIRECT

    @classmethod
    def registered(cls, name: str = "Desk assistant", redirect_uri: str = REDIRECT) -> TestProgram:
        """Register."""
        reply = register({"client_name": name, "redirect_uris": [redirect_uri]})
        assert reply.status_code == 201, reply.content
        return cls(reply.json()["client_id"], redirect_uri)

    def address(self, **changed: str | None) -> str:
        """Return where it sends the browser; None leaves a parameter out."""
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": "read write",
            "state": "s",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "resource": RESOURCE,
        } | changed
        return "/oauth/authorize?" + urlencode({name: value for name, value in asked.items() if value})

    def answer(self, browser: Client, *workspaces: object, write: bool = True, **changed: str | None) -> Any:
        """Answer the question as the person would, with the workspaces that it may read."""
        form: dict[str, Any] = {"answer": "allow", "workspaces": [str(each) for each in workspaces]}
        return browser.post(self.address(**changed), form | ({"write": "on"} if write else {}))

    def code(self, browser: Client, *workspaces: object, write: bool = True, **changed: str | None) -> str:
        """Return the code that a person's consent gives."""
        reply = self.answer(browser, *workspaces, write=write, **changed)
        assert reply.status_code == 302, reply.content
        return str(sent_back(reply)["code"])

    def exchange(self, code: str, /, **changed: str) -> Any:
        """Send a code."""
        return post_form(
            "/oauth/token",
            {
                "grant_type": "authorization_code",
                "code": code,
                "client_id": self.client_id,
                "redirect_uri": self.redirect_uri,
                "code_verifier": VERIFIER,
                "resource": RESOURCE,
            }
            | changed,
        )

    def refresh(self, token: str, /, **changed: str) -> Any:
        """Send a refresh token."""
        form = {"grant_type": "refresh_token", "refresh_token": token, "client_id": self.client_id}
        return post_form("/oauth/token", form | {"resource": RESOURCE} | changed)

    def connect(self, browser: Client, *workspaces: object, write: bool = True) -> dict[str, Any]:
        """Return the tokens of a new connection."""
        reply = self.exchange(self.code(browser, *workspaces, write=write))
        assert reply.status_code == 200, reply.content
        return dict(reply.json())


def register(body: Any) -> Any:
    """Send a registration."""
    return Client().post("/oauth/register", json.dumps(body), content_type="application/json")


def post_form(address: str, form: dict[str, str]) -> Any:
    """Send a form as programs do."""
    return Client().post(address, urlencode(form), content_type=FORM)


def sent_back(reply: Any) -> dict[str, str]:
    """Return the parameters of a redirect to a program."""
    return {name: values[0] for name, values in parse_qs(urlsplit(reply["Location"]).query).items()}


def call_mcp(token: str, tool: str = "list_documents", **arguments: Any) -> Any:
    """Call a tool with a credential."""
    call = {"name": tool, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
    }
    return Client().post("/mcp", json.dumps(body), content_type="application/json", headers=headers)


def result_of(reply: Any) -> Any:
    """Return what a tool gave, or its error."""
    assert reply.status_code == 200, reply.content
    return json.loads(reply.json()["result"]["content"][0]["text"])
