"""Checks of requests that describe themselves, on traces written by hand."""

from typing import Any

import pytest

from tests.lab.client.judging import ENDED, META, NEW, trace_of, verdicts
from tests.lab.traces import request, result, stdio_trace

PROBE = request(1, "server/discover", _meta=META)
PROBED = result(1, supportedVersions=[NEW.date], capabilities={})
REFUSED = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32022, "message": "no", "data": {"supported": []}}}


def test_a_process_that_is_started_later_need_not_be_probed() -> None:
    first = stdio_trace(("<", PROBE), (">", PROBED), revision=NEW).frames
    later = stdio_trace(("<", request(2, "tools/list", _meta=META)), revision=NEW).frames
    moved = [type(one)(one.n, one.t, one.sender, "2/lines", one.kind, one.raw) for one in later]
    assert verdicts("stateless.probe", "VER-12", trace_of(*first, *moved, revision=NEW)) == [True]


def test_a_refused_probe_leads_to_no_handshake() -> None:
    turns = [("<", PROBE), (">", REFUSED)]
    left = trace_of(*stdio_trace(*turns).frames, ENDED, revision=NEW)
    stayed = trace_of(*stdio_trace(*turns, ("<", request(2, "initialize"))).frames, ENDED, revision=NEW)
    assert verdicts("stateless.refused-version", "VER-14", left) == [True]
    assert verdicts("stateless.refused-version", "VER-14", stayed) == [False]


@pytest.mark.parametrize(
    ("value", "holds"),
    [
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", True),
        ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes", True),
        ("00-00000000000000000000000000000000-b7ad6b7169203331-01", False),
        ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", False),
        (7, False),
    ],
)
def test_a_trace_context_has_the_form_of_the_w3c(value: Any, holds: bool) -> None:
    asked = request(1, "tools/list", _meta={**META, "traceparent": value})
    assert verdicts("stateless.trace-context", "META-13", stdio_trace(("<", asked), revision=NEW)) == [holds]


@pytest.mark.parametrize(
    ("key", "value", "holds"),
    [
        ("tracestate", "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7", True),
        ("tracestate", "no pairs", False),
        ("baggage", "userId=alice,serverNode=DF%2028;p=1", True),
        ("baggage", "=nobody", False),
    ],
)
def test_what_goes_with_a_trace_has_its_form_too(key: str, value: str, holds: bool) -> None:
    asked = request(1, "tools/list", _meta={**META, key: value})
    assert verdicts("stateless.trace-context", "META-13", stdio_trace(("<", asked), revision=NEW)) == [holds]
