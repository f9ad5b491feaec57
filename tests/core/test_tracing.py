"""Traces: what they tie together, what they never say, and that without a collector there are none."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from core import tracing
from core.tracing import current_trace, detached_span, span, trace_of_headers
from tests.conftest import make_cast
from tests.testing.live import live_server, wait_until
from tests.testing.paths import ROOT

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
HEADERS = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}


@pytest.fixture
def recorded() -> Iterator[InMemorySpanExporter]:
    """The spans of this process."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.use_provider(provider)
    yield exporter
    tracing.use_provider(None)
    provider.shutdown()


def by_name(recorded: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {each.name: each for each in recorded.get_finished_spans()}


def test_a_span_is_a_part_of_that_around_it(recorded: InMemorySpanExporter) -> None:
    with span("outer"), span("inner"), detached_span("chat", {"gen_ai.request.model": "a model"}):
        pass
    spans = by_name(recorded)
    assert spans["inner"].parent and spans["chat"].parent
    assert spans["inner"].parent.span_id == spans["outer"].context.span_id
    assert spans["chat"].parent.span_id == spans["inner"].context.span_id


def test_a_task_of_its_own_goes_on_with_the_trace(recorded: InMemorySpanExporter) -> None:
    with span("request"):
        parent = current_trace()
    with span("run", parent=parent):
        pass
    spans = by_name(recorded)
    assert spans["run"].parent and spans["run"].parent.span_id == spans["request"].context.span_id


def test_a_request_goes_on_with_the_trace_of_its_headers(recorded: InMemorySpanExporter) -> None:
    with span("request", parent=trace_of_headers({b"traceparent": HEADERS["traceparent"].encode()})):
        pass
    with span("other", parent=trace_of_headers({b"traceparent": b"nonsense \xff"})):
        pass
    spans = by_name(recorded)
    assert f"{spans['request'].context.trace_id:032x}" == TRACE
    assert spans["other"].parent is None


@pytest.mark.parametrize("kind", [span, detached_span])
def test_an_error_is_named_and_not_quoted(recorded: InMemorySpanExporter, kind: Any) -> None:
    with pytest.raises(ValueError, match="words of a document"), kind("read"):
        raise ValueError("words of a document")
    [read] = recorded.get_finished_spans()
    assert read.attributes == {"error.type": "ValueError"}
    assert not read.status.is_ok
    assert "words of a document" not in read.to_json()


def test_without_a_collector_nothing_of_the_sdk_is_loaded() -> None:
    script = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "locus.settings"
from core.tracing import detached_span, span, start_tracing
start_tracing("locus-test")
with span("a") as one, detached_span("b") as two:
    assert (one, two) == (None, None)
print([name for name in sys.modules if name.startswith(("opentelemetry.sdk", "opentelemetry.exporter"))])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"


class Collector(BaseHTTPRequestHandler):
    """Keeps the spans that it is sent."""

    spans: list[Any] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") is None:
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                for scope in resource.scope_spans:
                    self.spans.extend(scope.spans)
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[str]:
    Collector.spans = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.django_db(transaction=True)
def test_a_question_is_one_trace_at_the_collector(collector: str) -> None:
    cast = make_cast()
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector, "OTEL_BSP_SCHEDULE_DELAY": "200"}
    environment |= {"SCRIPT_PACE_SECS": "0", "SCRIPT_PIECES": "3"}
    with live_server("tests.testing.scripted:application", **environment) as web:
        wait_until(lambda: httpx.get(f"{web.url}/readyz").json()["models"] == "loaded", "models are loaded")
        reply = httpx.post(
            f"{web.url}/api/v1/tools/rag_search",
            content=json.dumps({"query": "Who kept the secret light?"}),
            headers=cast.headers("alice") | HEADERS | {"Content-Type": "application/json"},
            timeout=60,
        )
        assert reply.status_code == 200
        wait_until(lambda: len(of_the_trace()) >= 2, "both spans have come")
    spans = {each.name: each for each in of_the_trace()}
    request, run = spans["HTTP POST"], spans["run rag_search"]
    assert run.parent_span_id == request.span_id
    assert request.parent_span_id.hex() == "00f067aa0ba902b7"
    assert "secret light" not in "".join(map(str, Collector.spans))


def of_the_trace() -> list[Any]:
    return [each for each in Collector.spans if each.trace_id.hex() == TRACE]
