"""Renders the Helm chart, and takes from packages the parts of the schemas that our files use.

Needs packages that nothing else needs, and no network or cluster beyond them:

    uv run --no-project --with helm-python-sdk,kubernetes-validate,compose-spec,pyyaml \
        python tests/samples/deployment/make.py

Helm itself (Apache-2.0) renders. The schemas are Kubernetes' in `kubernetes-validate` (Apache-2.0), and that
of compose files in `compose-spec` (MIT or Apache-2.0), made strict and without descriptions.
"""

from __future__ import annotations

import hashlib
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
CHART = HERE.parents[2] / "deploy/helm/locus"
PROFILES = ("medium", "large")
VERSION = "v1.37.0-local-strict"
KINDS = {
    "ConfigMap": "configmap-v1",
    "Deployment": "deployment-apps-v1",
    "HorizontalPodAutoscaler": "horizontalpodautoscaler-autoscaling-v2",
    "Ingress": "ingress-networking-v1",
    "PodDisruptionBudget": "poddisruptionbudget-policy-v1",
    "Service": "service-v1",
}
DROPPED = ("description", "title", "default", "$id", "$schema")
REFERENCE = "_definitions.json#/$defs/"


def main() -> None:
    """Write all files of this folder."""
    for profile in PROFILES:
        (HERE / f"{profile}.yaml").write_text(rendered(profile))
    (HERE / "kubernetes.json").write_text(json.dumps(kubernetes_schema(), separators=(",", ":")) + "\n")
    (HERE / "compose.json").write_text(json.dumps(compose_schema(), separators=(",", ":")) + "\n")


def digest_of_chart() -> str:
    """Return a hash of all that decides over the renderings."""
    files = sorted(path for path in CHART.rglob("*") if path.is_file())
    parts = (f"{path.relative_to(CHART)}\n{path.read_text()}" for path in files)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def rendered(profile: str) -> str:
    """Return what Helm makes of the chart with a profile's values."""
    helm = import_module("helm_python")
    values = yaml.safe_load((CHART / f"profiles/{profile}.yaml").read_text())
    with helm.Chart.load(str(CHART)) as chart:
        chart.validate_schema(values)
        manifests = chart.render(values, name="locus", namespace="locus")
    texts = (manifests[name].strip().removeprefix("---").strip() for name in sorted(manifests))
    whole = "\n---\n".join(text for text in texts if text)
    return f"# Made by make.py of the chart {digest_of_chart()}\n---\n{whole}\n"


def kubernetes_schema() -> dict[str, Any]:
    """Return `{kinds: {kind: schema}, $defs}` with the definitions that the kinds use."""
    package = import_module("kubernetes_validate")
    folder = Path(str(package.__file__)).parent / "kubernetes-json-schema" / VERSION
    definitions = json.loads((folder / "_definitions.json").read_text())["$defs"]
    kinds = {kind: json.loads((folder / f"{name}.json").read_text()) for kind, name in KINDS.items()}
    used: dict[str, Any] = {}
    waiting = list(references(kinds))
    while waiting:
        name = waiting.pop()
        if name not in used:
            used[name] = definitions[name]
            waiting += references(used[name])
    return {"kinds": reduced(kinds), "$defs": reduced(used)}


def references(part: Any) -> set[str]:
    """Return the names of the definitions that a part of a schema names."""
    text = json.dumps(part)
    return {each.split('"')[0].rsplit("/", 1)[-1] for each in text.split('"$ref": "')[1:]}


def reduced(part: Any, *, is_names: bool = False) -> Any:
    """Return a schema without what only people read, with references into one file."""
    if isinstance(part, list):
        return [reduced(each) for each in part]
    if not isinstance(part, dict):
        return part
    kept = {
        name: reduced(value, is_names=name in ("properties", "$defs"))
        for name, value in part.items()
        if is_names or (name not in DROPPED and not name.startswith("x-"))
    }
    if isinstance(kept.get("$ref"), str):
        kept["$ref"] = "#/$defs/" + kept["$ref"].rsplit("/", 1)[-1]
    return kept


def compose_schema() -> dict[str, Any]:
    """Return the schema of compose files; of each object, names that it does not have are refused."""
    schema: dict[str, Any] = import_module("compose_spec.models").ComposeSpecification.model_json_schema()
    for each in (schema, *schema["$defs"].values()):
        if "properties" in each:
            each["additionalProperties"] = False
            each["patternProperties"] = {"^x-": {}}
    return dict(reduced(schema))


if __name__ == "__main__":
    main()
