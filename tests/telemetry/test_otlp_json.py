"""Spans are written as the SDK writes them: the same messages, in the other form of OTLP."""

import json
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

from assay.lab.harness.otlp_body import _to_base64, _with_ids
from assay.telemetry.otlp_json import KEPT, SpanWriter

PARENT = SpanContext(7, 9, True, TraceFlags(1), TraceState([("vendor", "value")]))


def made(*makers: Any) -> tuple[ReadableSpan, ...]:
    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "it", "count": 3}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    for make in makers:
        make(provider)
    return kept.get_finished_spans()


def by_us(spans: tuple[ReadableSpan, ...], writer: SpanWriter | None = None) -> Any:
    body = json.loads((writer or SpanWriter()).write(spans))
    return ParseDict(_with_ids(body, _to_base64), ExportTraceServiceRequest())


def spans_of(request: Any) -> list[Any]:
    """Without what the two tell at different length: flags, state of links, a status that says nothing."""
    found = [span for one in request.resource_spans for scope in one.scope_spans for span in scope.spans]
    for span in found:
        span.flags = 0
        if not span.status.code:
            span.ClearField("status")
        for link in span.links:
            link.flags = 0
            link.trace_state = ""
    return sorted(found, key=lambda span: span.span_id)


def plain(provider: TracerProvider) -> None:
    tracer = provider.get_tracer("assay")
    tracer.start_span("tools/call add", kind=SpanKind.SERVER, attributes={"a": "b", "n": 1}).end()


def rich(provider: TracerProvider) -> None:
    tracer = provider.get_tracer("other", "1.2")
    context = trace.set_span_in_context(trace.NonRecordingSpan(PARENT))
    span = tracer.start_span("it", context, SpanKind.CLIENT, links=[Link(PARENT, {"why": "because"})])
    span.set_attributes({"f": 1.5, "t": True, "list": ["a", "b"], "long": "x" * 500})
    span.add_event("happened", {"at": "once"}, timestamp=12)
    span.set_status(Status(StatusCode.ERROR, "no luck"))
    span.end()


@pytest.mark.parametrize("makers", [(plain,), (rich,), (plain, rich, plain)])
def test_spans_are_those_that_the_sdk_writes(makers: Any) -> None:
    spans = made(*makers)
    ours, theirs = by_us(spans), encode_spans(spans)
    assert spans_of(ours) == spans_of(theirs)


def test_resource_and_scopes_are_those_that_the_sdk_writes() -> None:
    spans = made(plain, rich)
    (ours,), (theirs,) = by_us(spans).resource_spans, encode_spans(spans).resource_spans
    assert ours.resource == theirs.resource
    assert [one.scope for one in ours.scope_spans] == [one.scope for one in theirs.scope_spans]


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=20),
        st.text(max_size=80) | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False),
        max_size=6,
    )
)
def test_any_attribute_is_written_as_the_sdk_does(attributes: Any) -> None:
    spans = made(lambda provider: provider.get_tracer("a").start_span("it", attributes=attributes).end())
    assert spans_of(by_us(spans)) == spans_of(encode_spans(spans))


def test_what_is_kept_has_a_bound() -> None:
    writer = SpanWriter()
    spans = made(
        *(
            lambda provider, n=n: provider.get_tracer("a").start_span("it", attributes={"n": str(n)}).end()
            for n in range(KEPT + 10)
        )
    )
    writer.write(spans)
    assert len(writer._kept) <= KEPT


def test_nothing_is_written_as_nothing() -> None:
    assert spans_of(by_us(())) == []
