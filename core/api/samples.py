"""Examples in the API's schema (`x-codeSamples`): each operation for curl, Python and JavaScript.

`LOCUS` is the address of the installation and `KEY` an API key, both from the environment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

QUESTION = {"query": "How much did the solar farm produce in 2023?"}
BODIES: dict[str, Any] = {
    "documents_change": {"title": "Annual report 2023", "tags": ["report"]},
    "me_change": {},
    "preferences_change": {"rag": {"contexts": 8}},
    "search": QUESTION | {"limit": 5},
    "tools_run": QUESTION,
    "tools_execute": {"inputs": QUESTION},
    "workspace_settings_change": {"web_search": {"enabled": True}},
    "auth_token_create": {"external_user_id": "customer-17", "ttl_secs": 600},
    "workspaces_create": {"name": "Finance"},
}
"""The JSON of an example, by operation. Operations that are not here and need a body have no example."""
UPLOADS = {"documents_create": "files", "documents_replace_file": "file"}
"""Operations whose example uploads a file: the name of the form's field."""
FILE = "report.pdf"
PATHS = {"{name}": "rag_search", "{number}": "1"}
"""What stands in an example's address; ids stay as the reader's own variables."""
PARAMETER = re.compile(r"\{(\w+)\}")
METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    path: str
    body: Any
    upload: str | None
    is_stream: bool
    is_file: bool
    """Whether the reply is bytes, to be stored."""


def with_code_samples(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the examples to a schema: a hook of its generator."""
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            if method in METHODS and (call := _call(path, method, operation)):
                operation["x-codeSamples"] = list(_samples(call))
    return result


def _call(path: str, method: str, operation: Mapping[str, Any]) -> _Call | None:
    id = operation["operationId"]
    body, upload = BODIES.get(id), UPLOADS.get(id)
    if "requestBody" in operation and body is None and upload is None:
        return None
    for name, value in PATHS.items():
        path = path.replace(name, value)
    good = next(each for status, each in operation["responses"].items() if status.startswith("2"))
    types = set(good.get("content", {}))
    is_json = "application/json" in types or not types
    is_stream = not is_json and "text/event-stream" in types
    return _Call(method.upper(), path, body, upload, is_stream, not is_json and not is_stream)


def _samples(call: _Call) -> Iterator[dict[str, str]]:
    yield {"lang": "Shell", "label": "curl", "source": _curl(call)}
    yield {"lang": "Python", "label": "Python", "source": _python(call)}
    yield {"lang": "JavaScript", "label": "JavaScript", "source": _javascript(call)}


def _curl(call: _Call) -> str:
    path = PARAMETER.sub(lambda found: f"${found[1].upper()}", call.path)
    options = "-N " if call.is_stream else "-o reply " if call.is_file else ""
    method = (
        "" if call.method == "GET" or (call.method == "POST" and _has_body(call)) else f"-X {call.method} "
    )
    lines = [f'curl {options}{method}"$LOCUS{path}"', '-H "Authorization: Bearer $KEY"']
    if call.upload:
        lines.append(f"-F {call.upload}=@{FILE}")
    elif call.body is not None:
        lines += ['-H "Content-Type: application/json"', f"-d '{json.dumps(call.body, ensure_ascii=False)}'"]
    return " \\\n  ".join(lines)


def _python(call: _Call) -> str:
    arguments = [f'f"{{LOCUS}}{call.path}"', 'headers={"Authorization": f"Bearer {KEY}"}']
    if call.upload:
        arguments.append(f'files={{"{call.upload}": open("{FILE}", "rb")}}')
    elif call.body is not None:
        arguments.append(f"json={call.body!r}")
    if call.is_stream:
        arguments.append("stream=True")
    lines = ["import os", "", "import requests", "", 'LOCUS, KEY = os.environ["LOCUS"], os.environ["KEY"]']
    lines += [f'{name} = "…"' for name in PARAMETER.findall(call.path)]
    lines += ["", f"reply = requests.{call.method.lower()}("]
    lines += [f"    {argument}," for argument in arguments]
    lines += [")", "reply.raise_for_status()"]
    if call.is_stream:
        lines += ["for line in reply.iter_lines(decode_unicode=True):", "    print(line)"]
    elif call.is_file:
        lines += ['with open("reply", "wb") as file:', "    file.write(reply.content)"]
    else:
        lines.append("print(reply.json())")
    return "\n".join(lines)


def _javascript(call: _Call) -> str:
    path = PARAMETER.sub(r"${\1}", call.path)
    lines = []
    if call.upload:
        lines = [
            'import { openAsBlob } from "node:fs";',
            "",
            "const form = new FormData();",
            f'form.append("{call.upload}", await openAsBlob("{FILE}"), "{FILE}");',
        ]
    lines.append("const { LOCUS, KEY } = process.env;")
    lines += [f'const {name} = "…";' for name in PARAMETER.findall(call.path)]
    lines.append(f"const reply = await fetch(`${{LOCUS}}{path}`, {{")
    if call.method != "GET":
        lines.append(f'  method: "{call.method}",')
    json_type = ', "Content-Type": "application/json"' if call.body is not None and not call.upload else ""
    lines.append(f"  headers: {{ Authorization: `Bearer ${{KEY}}`{json_type} }},")
    if call.upload:
        lines.append("  body: form,")
    elif call.body is not None:
        lines.append(f"  body: JSON.stringify({json.dumps(call.body, ensure_ascii=False)}),")
    lines += ["});", "if (!reply.ok) throw new Error(await reply.text());"]
    if call.is_stream:
        lines += [
            "for await (const text of reply.body.pipeThrough(new TextDecoderStream())) {",
            "  console.log(text);",
            "}",
        ]
    else:
        lines.append(
            "const bytes = await reply.arrayBuffer();" if call.is_file else "console.log(await reply.json());"
        )
    return "\n".join(lines)


def _has_body(call: _Call) -> bool:
    return call.upload is not None or call.body is not None
