"""Trace context from clients; what cannot be read is ignored."""

import json
from typing import Any

import pytest
from msgspec import UNSET, Raw
from opentelemetry import trace

from assay.telemetry.parent import MAX_LENGTH, Parent

GOOD = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def parent_of(meta: Any) -> trace.SpanContext:
    raw = UNSET if meta is UNSET else Raw(json.dumps(meta).encode())
    context, _ = Parent().of(raw, ())
    return trace.get_current_span(context).get_span_context()


def test_a_parent_is_read() -> None:
    assert parent_of({"traceparent": GOOD}).is_valid


@pytest.mark.parametrize(
    "meta",
    [
        UNSET,
        {},
        {"progressToken": 5},
        {"traceparent": 5},
        {"traceparent": "nonsense"},
        {"traceparent": f"00-{'0' * 32}-{'0' * 16}-01"},
        {"traceparent": GOOD.replace("-", "_")},
        {"traceparent": GOOD + "x" * MAX_LENGTH},
        {"baggage": "user=ada"},
        ["traceparent"],
        "traceparent",
    ],
    ids=str,
)
def test_what_is_no_trace_context_has_no_parent(meta: Any) -> None:
    assert not parent_of(meta).is_valid


def test_meta_that_is_no_json_has_no_parent() -> None:
    context, links = Parent().of(Raw(b'{"traceparent":'), [(b"x", b"y")])

    assert not trace.get_current_span(context).get_span_context().is_valid
    assert links == ()
