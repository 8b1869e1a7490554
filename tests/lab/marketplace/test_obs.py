"""What the checks of the area obs see in spans that no server would export today."""

from typing import Any

import msgspec
import pytest

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.sabotage.altered_spans import with_altered_spans
from assay.lab.harness.sabotage.subject import HEALTHY
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.out_of_band import OutOfBand
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.marketplace.observability import record_spans
from assay.lab.suites import suite_named
from assay.revisions.registry import HANDSHAKE
from tests.lab.traces import request, result

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
META = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
CALL = request(7, "tools/call", name="echo", arguments={}, _meta=META)
UNKNOWN = request(7, "lab/unknown", _meta=META)
FINE = result(7, content=[])
FAILED = result(7, content=[], isError=True)
ATTRIBUTES = {
    "rpc.method": "tools/call",
    "transport.type": "stdio",
    "capability.name": "echo",
    "mcp.method.name": "tools/call",
    "jsonrpc.request.id": "7",
    "mcp.protocol.version": HANDSHAKE[-1].date,
    "network.transport": "pipe",
}
BROKEN = {"code": 2}
NO_SPANS = [b"no span", b"[]", b'{"traceId": 1}', b'{"traceId": "x", "attributes": [{"value": 1}]}']


def span(**changes: Any) -> dict[str, Any]:
    """What a good server makes of the call; an attribute that is none is not there."""
    known = {**ATTRIBUTES, "error.type": None}
    named = {name: changes.pop(name, value) for name, value in known.items()}
    pairs = [{"key": key, "value": {"stringValue": text}} for key, text in named.items() if text is not None]
    ids = {"traceId": TRACE, "spanId": "1" * 16, "parentSpanId": PARENT}
    return {**ids, "name": "tools/call echo", "kind": 2, "attributes": pairs, **changes}


def error(code: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "error": {"code": code, "message": "no"}}


def trace(asked: Any, answered: Any, *spans: Any) -> Trace:
    lines = [(Sender.DRIVER, asked), (Sender.SUBJECT, answered)]
    frames = [
        Frame(n, n / 1000, sender, "1/lines", Kind.LINE, msgspec.json.encode(message) + b"\n")
        for n, (sender, message) in enumerate(lines)
    ]
    for one in spans:
        raw = one if isinstance(one, bytes) else msgspec.json.encode(one)
        frames.append(Frame(len(frames), 1.0, Sender.SUBJECT, "beside/spans", Kind.SPAN, raw))
    return Trace(Header(HANDSHAKE[-1].date, "stdio", "by hand", "by-hand", closed=True), frames)


def holds(check: str, made: Trace) -> list[bool]:
    return [one.holds for one in suite_named("marketplace").checks[f"obs.{check}"].judge(made)]


@pytest.mark.parametrize("check", ["spans", "parent", "names", "conventions", "errors"])
def test_a_good_span_is_as_all_checks_want_it(check: str) -> None:
    assert holds(check, trace(CALL, FINE, span())) == [True]


@pytest.mark.parametrize(
    ("check", "spans", "expected"),
    [
        ("spans", [], [False]),
        ("spans", [span(kind=1)], [False]),
        ("spans", [span(traceId="0" * 32)], []),
        ("spans", [span(traceId="0" * 32, name="x", **{"rpc.method": "x", "mcp.method.name": "x"})], [False]),
        ("spans", [span(kind=1), span()], [True]),
        ("spans", NO_SPANS, [False]),
        ("parent", [span(parentSpanId="")], [False]),
        ("parent", [span(parentSpanId="f" * 16), span()], [True]),
        ("parent", [], []),
        ("parent", [span(traceId="0" * 32)], [False]),
        (
            "parent",
            [span(traceId="0" * 32, name="tools/list", **{"rpc.method": "x", "mcp.method.name": "x"})],
            [],
        ),
        ("names", [span(**{"rpc.method": None})], [False]),
        ("names", [span(**{"rpc.method": "tools/list"})], [False]),
        ("names", [span(**{"transport.type": "http+sse"})], [False]),
        ("names", [span(**{"capability.name": "other"})], [False]),
        ("names", [span(**{"mcp.method.name": None})], [True]),
        ("conventions", [span(name="tools/call")], [False]),
        ("conventions", [span(**{"mcp.method.name": None})], [False]),
        ("conventions", [span(**{"jsonrpc.request.id": "8"})], [False]),
        ("conventions", [span(**{"network.transport": "tcp"})], [False]),
        ("conventions", [span(**{"rpc.method": None})], [True]),
    ],
)
def test_a_span_is_judged_by_what_it_says_of_its_request(
    check: str, spans: list[Any], expected: list[bool]
) -> None:
    assert holds(check, trace(CALL, FINE, *spans)) == expected


@pytest.mark.parametrize(
    ("answer", "made", "expected"),
    [
        (FAILED, span(status=BROKEN, **{"error.type": "tool_error"}), [True]),
        (FAILED, span(status=BROKEN), [False]),
        (FAILED, span(), [False]),
        (FINE, span(status=BROKEN), [False]),
        (error(-32602), span(), [True]),
        (error(-32602), span(status=BROKEN), [False]),
        (error(-32603), span(status=BROKEN, **{"error.type": "-32603"}), [True]),
        (error(-32603), span(), [False]),
        (error(-31999), span(), []),
    ],
)
def test_a_span_has_failed_where_the_server_has(answer: Any, made: Any, expected: list[bool]) -> None:
    assert holds("errors", trace(CALL, answer, made)) == expected


@pytest.mark.parametrize("check", ["names", "conventions"])
def test_a_method_that_a_server_does_not_have_it_need_not_repeat(check: str) -> None:
    other = {"rpc.method": "other", "mcp.method.name": "other", "capability.name": None}
    assert holds(check, trace(UNKNOWN, error(-32601), span(name="unknown", **other))) == [True]


@pytest.mark.parametrize("check", ["names", "conventions"])
def test_a_tool_that_a_server_does_not_have_it_need_not_repeat(check: str) -> None:
    made = span(name="tools/call", **{"capability.name": None})
    assert holds(check, trace(CALL, error(-32602), made)) == [True]


def test_requests_without_a_trace_are_not_missed() -> None:
    assert holds("spans", trace(request(7, "ping"), result(7))) == []


class Kept:
    """Spans that came."""

    def __init__(self, *spans: dict[str, Any]) -> None:
        self.spans = list(spans)

    async def of_trace(self, trace_id: str, patience: float, count: int = 1) -> list[dict[str, Any]]:
        return self.spans

    def all(self) -> list[dict[str, Any]]:
        return self.spans


class Deaf(Kept):
    """Spans of traces that the driver has not begun."""

    async def of_trace(self, trace_id: str, patience: float, count: int = 1) -> list[dict[str, Any]]:
        return []


async def test_where_no_trace_of_the_driver_is_known_a_span_of_each_method_is_recorded() -> None:
    recorder = Recorder(Header(HANDSHAKE[-1].date, "stdio", "by hand", "by-hand"))
    others = (
        span(name="older"),
        span(),
        span(name="tools/list", **{"rpc.method": "x", "mcp.method.name": "x"}),
    )
    stage = Stage(
        recorder,
        lambda peer: pytest.fail("nobody is spoken to"),
        revision=HANDSHAKE[-1],
        transport=Transport.STDIO,
        facts=Facts(HANDSHAKE[-1].date),
        patience=0.01,
        out_of_band=OutOfBand(spans=Deaf(*others)),
    )
    await record_spans(stage, {"1" * 32: "tools/call", "2" * 32: "tools/call", "3" * 32: "prompts/list"})
    heard = [msgspec.json.decode(frame.raw)["name"] for frame in recorder.trace(closed=True).frames]
    assert heard == ["tools/call echo"]


async def test_a_fault_changes_what_is_picked_up_and_not_what_came() -> None:
    kept = Kept(span(), span(kind=1))

    def change(one: dict[str, Any]) -> dict[str, Any] | None:
        one["name"] = "changed"
        return one if one["kind"] == 2 else None

    conditions = Conditions(out_of_band=OutOfBand(spans=kept))
    faulty = with_altered_spans(conditions, msgspec.structs.replace(HEALTHY, span=change)).out_of_band.spans
    assert faulty is not None
    assert [one["name"] for one in await faulty.of_trace(TRACE, 1)] == ["changed"]
    assert [one["name"] for one in faulty.all()] == ["changed"]
    assert [one["name"] for one in kept.spans] == ["tools/call echo"] * 2
    assert with_altered_spans(conditions, HEALTHY) is conditions
