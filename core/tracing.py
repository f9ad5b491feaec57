"""Traces of requests, runs, jobs and calls of models, for a collector of the operator's (OpenTelemetry).

Without `OTEL_EXPORTER_OTLP_ENDPOINT` nothing is recorded and no package of the SDK is loaded. Spans say what
was done, for how long, and which kind of error ended it, and have no text of documents, questions or answers.
Libraries that trace by themselves get nothing of it: the provider is ours alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from opentelemetry.context import Context, get_current

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

Attributes = Mapping[str, str | int]

_tracer: Tracer | None = None


def start_tracing(service: str) -> None:
    """Send spans of this process from now on, if a collector is named; raise `ImproperlyConfigured`."""
    if not settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ImproperlyConfigured(
            f"OTEL_EXPORTER_OTLP_ENDPOINT needs more packages: pip install locus[traces] ({error})"
        ) from None
    endpoint = f"{settings.OTEL_EXPORTER_OTLP_ENDPOINT.rstrip('/')}/v1/traces"
    provider = TracerProvider(
        resource=Resource({"service.name": service, "service.version": settings.VERSION})
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    use_provider(provider)


def use_provider(provider: TracerProvider | None) -> None:
    """Record spans with a provider from now on, or none with None."""
    global _tracer
    _tracer = provider.get_tracer("locus") if provider else None


def current_trace() -> Context | None:
    """Return what makes a span elsewhere, such as in a task of its own, a part of this one; None without."""
    return get_current() if _tracer else None


def trace_of_headers(headers: Mapping[bytes, bytes]) -> Context | None:
    """Return the trace that the headers of a request continue (W3C Trace Context)."""
    if _tracer is None:
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier = {"traceparent": headers.get(b"traceparent", b"").decode("latin-1")}
    return TraceContextTextMapPropagator().extract(carrier)


@contextmanager
def span(name: str, attributes: Attributes | None = None, parent: Context | None = None) -> Iterator[Any]:
    """Record the block as a span, whose parts are the spans that begin in it; yield it, or None."""
    if _tracer is None:
        yield None
        return
    quiet: dict[str, Any] = {"record_exception": False, "set_status_on_exception": False}
    with (
        _tracer.start_as_current_span(name, parent, attributes=attributes, **quiet) as recorded,
        _errors_noted(recorded),
    ):
        yield recorded


@contextmanager
def detached_span(name: str, attributes: Attributes | None = None) -> Iterator[Any]:
    """Record the block as a span without parts: for blocks of generators, which others may close."""
    if _tracer is None:
        yield None
        return
    recorded = _tracer.start_span(name, attributes=attributes, record_exception=False)
    try:
        with _errors_noted(recorded):
            yield recorded
    finally:
        recorded.end()


@contextmanager
def _errors_noted(recorded: Span) -> Iterator[None]:
    """Note the class of an error: its message may quote a document."""
    from opentelemetry.trace import Status, StatusCode

    try:
        yield
    except Exception as error:
        recorded.set_attribute("error.type", type(error).__name__)
        recorded.set_status(Status(StatusCode.ERROR))
        raise
