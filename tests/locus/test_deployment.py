"""The Helm chart as Helm renders it, and the compose files: against their schemas, and against the code."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import yaml
from django.conf import settings as configured
from django.core.management import get_commands
from django.test import Client
from jsonschema import Draft202012Validator

from locus.management.commands import serve
from locus.serve import installation
from tests.locus.test_settings import names_of_settings
from tests.samples.deployment.make import CHART, HERE, PROFILES, digest_of_chart
from tests.testing.paths import ROOT

KUBERNETES = json.loads((HERE / "kubernetes.json").read_text())
COMPOSE_SCHEMA = json.loads((HERE / "compose.json").read_text())
COMPOSE = {
    "small": ["docker-compose.yml"],
    "medium": ["docker-compose.yml", "deploy/compose/medium.yml"],
    "large": ["docker-compose.yml", "deploy/compose/medium.yml", "deploy/compose/large.yml"],
}
# Read by others than our settings: OpenTelemetry, prometheus-client, the server's command line.
OTHER_VARIABLES = {"DATA_DIR"}


# --- Kubernetes --------------------------------------------------------------------------------------------


def manifests(profile: str) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all((HERE / f"{profile}.yaml").read_text()) if each]


def problems_of(manifest: dict[str, Any]) -> list[str]:
    schema = KUBERNETES["kinds"][manifest["kind"]] | {"$defs": KUBERNETES["$defs"]}
    errors = Draft202012Validator(schema).iter_errors(manifest)
    return [f"{error.json_path}: {error.message}" for error in errors]


def deployments(profile: str) -> list[dict[str, Any]]:
    return [each for each in manifests(profile) if each["kind"] == "Deployment"]


def containers(profile: str) -> Iterator[dict[str, Any]]:
    for deployment in deployments(profile):
        pod = deployment["spec"]["template"]["spec"]
        yield from [*pod["initContainers"], *pod["containers"]]


@pytest.mark.parametrize("profile", PROFILES)
def test_kubernetes_accepts_what_helm_renders(profile: str) -> None:
    rendered = manifests(profile)
    assert {"ConfigMap", "Deployment", "Service", "Ingress"} <= {each["kind"] for each in rendered}
    assert [problem for each in rendered for problem in problems_of(each)] == []
    names = [(each["kind"], each["metadata"]["name"]) for each in rendered]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("profile", PROFILES)
def test_the_renderings_are_those_of_this_chart(profile: str) -> None:
    """After a change of the chart: see `tests/samples/deployment/make.py`."""
    first = (HERE / f"{profile}.yaml").read_text().splitlines()[0]
    assert first == f"# Made by make.py of the chart {digest_of_chart()}"


def test_the_schema_sees_what_is_wrong() -> None:
    web = next(each for each in deployments("large") if each["metadata"]["name"] == "locus-web")
    container = web["spec"]["template"]["spec"]["containers"][0]
    container["comand"] = container.pop("command")
    container["ports"][0]["containerPort"] = "8000"
    assert len(problems_of(web)) == 2
    compose = merged("large")
    compose["services"]["web"]["imagee"] = "locus"
    compose["services"]["worker"]["deploy"]["replicaz"] = 2
    [services] = Draft202012Validator(COMPOSE_SCHEMA).iter_errors(compose)
    places = {error.json_path for error in services.context or ()}
    assert {"$.services.web", "$.services.worker.deploy"} <= places


@pytest.mark.parametrize("profile", PROFILES)
def test_selectors_find_their_pods(profile: str) -> None:
    pods = [each["spec"]["template"]["metadata"]["labels"] for each in deployments(profile)]
    for manifest in manifests(profile):
        selector = manifest["spec"].get("selector", {}) if "spec" in manifest else {}
        wanted = selector.get("matchLabels", selector)
        if wanted:
            assert sum(wanted.items() <= labels.items() for labels in pods) == 1, manifest["metadata"]["name"]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_setting_of_the_chart_is_one(profile: str) -> None:
    [data] = [each["data"] for each in manifests(profile) if each["kind"] == "ConfigMap"]
    variables = {each["name"] for container in containers(profile) for each in container.get("env", [])}
    assert set(data) | variables <= names_of_settings() | OTHER_VARIABLES


@pytest.mark.parametrize("profile", PROFILES)
def test_pods_run_our_commands_without_privileges(profile: str) -> None:
    commands = {container["name"]: container["command"] for container in containers(profile)}
    assert commands["web"] == [
        *("python", "-m", "uvicorn", "locus.asgi:application", "--host=0.0.0.0", "--port=8000"),
        *serve.UVICORN,
    ]
    assert {commands["setup"][2], commands["worker"][2]} == {"setup", "worker"} <= set(get_commands())
    for container in containers(profile):
        security = container["securityContext"]
        assert security["runAsNonRoot"] and not security["allowPrivilegeEscalation"]
        assert security["capabilities"] == {"drop": ["ALL"]}


def bytes_of(quantity: str) -> int:
    assert quantity.endswith("Gi")
    return int(quantity.removesuffix("Gi")) * 2**30


@pytest.mark.parametrize("profile", PROFILES)
def test_a_file_fails_before_the_pod_does(profile: str) -> None:
    workers = [each for each in containers(profile) if each["name"] == "worker"]
    assert workers
    for worker in workers:
        [limit] = [int(each["value"]) for each in worker["env"] if each["name"] == "WORKER_MEMORY_BYTES"]
        assert limit < 0.95 * bytes_of(worker["resources"]["limits"]["memory"])


@pytest.mark.django_db
def test_probes_are_answered_also_behind_tls(settings: Any) -> None:
    """A redirect to HTTPS would end at a port that no pod has."""
    settings.SECURE_SSL_REDIRECT = True
    probes = [
        container[name]["httpGet"]
        for container in containers("large")
        for name in ("startupProbe", "livenessProbe", "readinessProbe")
        if name in container
    ]
    assert {probe["path"] for probe in probes} == {"/healthz", "/readyz"}
    for probe in probes:
        host = {each["name"]: each["value"] for each in probe["httpHeaders"]}["Host"]
        assert host in configured.ALLOWED_HOSTS
        assert Client().get(probe["path"], headers={"host": host}).status_code in (200, 503)


def test_the_version_is_the_products() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["appVersion"] == configured.VERSION


# --- Compose -----------------------------------------------------------------------------------------------


def merged(size: str) -> dict[str, Any]:
    """Return the files of a size as one, as compose merges them; only lists of lists are left out."""
    whole: dict[str, Any] = {}
    for name in COMPOSE[size]:
        whole = _merge(whole, yaml.safe_load((ROOT / name).read_text()))
    return whole


def _merge(low: Any, high: Any) -> Any:
    if isinstance(low, dict) and isinstance(high, dict):
        return low | {name: _merge(low.get(name), value) for name, value in high.items()}
    return high


@pytest.mark.parametrize("name", COMPOSE["large"])
def test_compose_accepts_each_file(name: str) -> None:
    file = yaml.safe_load((ROOT / name).read_text())
    errors = Draft202012Validator(COMPOSE_SCHEMA).iter_errors(file)
    assert [f"{error.json_path}: {error.message}" for error in errors] == []


@pytest.mark.parametrize("size", COMPOSE)
def test_the_services_of_a_size_fit_each_other(size: str) -> None:
    whole = merged(size)
    services = whole["services"]
    for name, service in services.items():
        assert "image" in service, name
        assert set(service.get("depends_on", {})) <= set(services)
        assert {each["source"] for each in service.get("configs", [])} <= set(whole.get("configs", {}))
        assert {each.split(":")[0] for each in service.get("volumes", [])} <= set(whole["volumes"])
        if service["image"] == "locus":
            assert set(service["environment"]) <= names_of_settings() | OTHER_VARIABLES
    # What one process keeps for all, all processes know.
    for variable in ("DATABASE_URL", "REDIS_URL", "STORAGE", "S3_BUCKET", "S3_ENDPOINT_URL"):
        values = {services[name]["environment"].get(variable) for name in ("setup", "web", "worker")}
        assert len(values) == 1, variable
    assert [name for name, service in services.items() if "ports" in service] == ["web"]


def test_larger_sizes_have_more_of_everything() -> None:
    medium, large = merged("medium")["services"], merged("large")["services"]
    assert "redis" in medium and {"redis", "files"} <= set(large)
    for services, webs, workers in ((medium, 2, 2), (large, 4, 4)):
        command = services["web"]["command"]
        assert command[:3] == ["python", "manage.py", "serve"] and f"--web={webs}" in command
        assert "--workers=0" in command
        assert services["worker"]["deploy"]["replicas"] == workers
        assert int(services["worker"]["environment"]["WORKER_MEMORY_BYTES"]) < 4 * 2**30
        assert services["worker"]["mem_limit"] == "4g"
    drain = int(medium["web"]["environment"]["DRAIN_SECS"])
    assert int(medium["web"]["stop_grace_period"].removesuffix("s")) >= drain + 15


# --- Several that start at once ----------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_of_several_set_ups_one_brings_the_database_up_to_date(settings: Any) -> None:
    """Two that migrated at once failed with “relation already exists”.

    The lock is on the server itself: a pooler would keep it for good.
    """
    from django.db import connection
    from psycopg.conninfo import make_conninfo

    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    url = make_conninfo(**{name: connection.settings_dict[key] or None for name, key in names.items()})
    settings.DATABASE_URL, settings.DATABASE_DIRECT_URL = "postgresql:///a-pooler", url
    inside, most = [], []
    entered = threading.Barrier(4)

    def install() -> None:
        entered.wait()
        with installation.nobody_else_installs():
            inside.append(1)
            most.append(len(inside))
            with psycopg.connect(url) as other:
                other.execute("SELECT pg_sleep(0.05)")
            inside.pop()

    threads = [threading.Thread(target=install) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1, 1, 1]
