"""What the checks of the area negatives see: refusals, silence, accidents, and servers that end."""

import sys
from typing import Any

import msgspec
import pytest

from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.run.runner import Runner, RunSettings
from assay.lab.harness.subject.out_of_band import OutOfBand
from assay.lab.harness.subject.registry_entry import PROFILE, PUBLISHER
from assay.lab.harness.subject.subject import CommandSubject, Subject
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import PROBE, PROBED, Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Verdict
from assay.lab.marketplace.bad_message import BROKE, NEGATIVE
from assay.lab.suites import suite_named
from assay.model.error import HEADER_MISMATCH, INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR
from assay.revisions.registry import HANDSHAKE, PER_REQUEST, REVISIONS
from assay.revisions.revision import Batching, Revision
from tests.lab.everything.talking import over_http
from tests.lab.healthy_server import bundled
from tests.lab.traces import request, result, stdio_trace

pytestmark = pytest.mark.waits

SUITE = suite_named("marketplace")
BATCHING = next(one for one in REVISIONS if one.batching is Batching.ACCEPTED)
POST = "POST /mcp HTTP/1.1"
JSON = "Content-Type: application/json"
SENTINEL = msgspec.json.encode(request("sentinel-1-1", "ping"))
SERVED = msgspec.json.encode(result("sentinel-1-1"))
ENDS = """
import json, sys

for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        server = {"name": "ends", "version": "1"}
        told = {"protocolVersion": sys.argv[1], "capabilities": {}, "serverInfo": server}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": told}), flush=True)
    elif "id" in message:
        known = {"result": {}} if method == "ping" else {"error": {"code": -32601, "message": "no"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **known}), flush=True)
"""
"""A server that knows little, and ends with the first text that is no JSON."""


def refusal(code: int, number: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": "no"}}


def attempted(trace: Trace, case: str, *ids: str, broke: str = "") -> Trace:
    """The trace with the marks of one bad message around all of it."""
    begin = {"label": PROBE, "name": NEGATIVE, "case": case, "what": "something bad", "ids": ids}
    end = {"label": BROKE, "reason": broke} if broke else {"label": PROBED, "name": NEGATIVE, "begin": 0}
    inside = [msgspec.structs.replace(one, n=one.n + 1) for one in trace.frames]
    return Trace(trace.header, [_mark(0, begin), *inside, _mark(len(inside) + 1, end)])


def _mark(n: int, info: dict[str, Any]) -> Frame:
    return Frame(n, n / 1000, Sender.DRIVER, "1/marks", Kind.MARK, info=info)


def on_stdio(case: str, *said: Any, ids: tuple[str, ...] = (), after: Any = None) -> Trace:
    """A bad line, what came back, and the good request that follows."""
    last = result("sentinel-1-1") if after is None else after
    turns = [(">", b"something bad\n"), *(("<", one) for one in said)]
    turns += [(">", request("sentinel-1-1", "ping")), ("<", last)]
    return attempted(stdio_trace(*turns), case, *ids)


def on_http(case: str, status: str, said: Any, revision: Revision = HANDSHAKE[-1]) -> Trace:
    body = b"" if said is None else msgspec.json.encode(said)
    bad = (f"{POST}\n{JSON}", b"something bad", f"{status}\n{JSON}", body)
    good = (f"{POST}\n{JSON}", SENTINEL, f"200 OK\n{JSON}", SERVED)
    return attempted(over_http(bad, good, revision=revision), case)


def seen(check: str, trace: Trace) -> list[bool]:
    return [one.holds for one in SUITE.checks[f"negatives.{check}"].judge(trace)]


@pytest.mark.parametrize(
    ("check", "case", "said", "holds"),
    [
        ("text", "malformed", [refusal(PARSE_ERROR)], True),
        ("text", "malformed", [refusal(INVALID_REQUEST)], True),
        ("text", "malformed", [refusal(INTERNAL_ERROR)], False),
        ("text", "malformed", [], False),
        ("text", "truncated", [result(None)], False),
        ("envelope", "version", [refusal(INVALID_REQUEST, "bad")], True),
        ("envelope", "version", [refusal(PARSE_ERROR, "bad")], False),
        ("envelope", "version", [refusal(INVALID_REQUEST, "other")], False),
        ("envelope", "params", [refusal(-32602, "bad")], True),
        ("requests", "unknown-method", [refusal(-32601, "bad")], True),
        ("requests", "unknown-tool", [refusal(-32000, "bad")], True),
        ("requests", "unknown-tool", [result("bad", content=[], isError=True)], True),
        ("requests", "unknown-tool", [result("bad", content=[])], False),
        ("requests", "invalid-arguments", [refusal(INTERNAL_ERROR, "bad")], False),
        ("requests", "unknown-method", [result("bad", isError=True)], False),
        ("hostile", "deep-nesting", [refusal(PARSE_ERROR)], True),
        ("hostile", "deep-nesting", [result("bad")], True),
        ("hostile", "deep-nesting", [], False),
        ("hostile", "huge-number", [refusal(INTERNAL_ERROR)], False),
        ("duplicate-keys", "duplicate-keys", [result("bad"), refusal(-32601, "bad")], False),
    ],
)
def test_code_decides(check: str, case: str, said: list[Any], holds: bool) -> None:
    assert seen(check, on_stdio(case, *said, ids=("bad",))) == [holds]


@pytest.mark.parametrize(
    ("check", "case", "status", "said", "holds"),
    [
        ("text", "malformed", "400 Bad Request", refusal(PARSE_ERROR), True),
        ("text", "malformed", "200 OK", refusal(PARSE_ERROR), True),
        ("text", "malformed", "500 Oh", refusal(PARSE_ERROR), False),
        ("text", "malformed", "400 Bad Request", None, False),
        ("requests", "unknown-method", "404 Not Found", refusal(-32601), True),
        ("requests", "unknown-method", "501 Oh", refusal(-32601), False),
        ("batch", "batch", "501 Not Implemented", refusal(INVALID_REQUEST), True),
        ("batch", "batch", "200 OK", refusal(INVALID_REQUEST), False),
        ("hostile", "deep-nesting", "413 Too Large", None, True),
        ("hostile", "deep-nesting", "500 Oh", None, False),
    ],
)
def test_status_is_one_of_a_set(check: str, case: str, status: str, said: Any, holds: bool) -> None:
    assert seen(check, on_http(case, status, said)) == [holds]


def test_headers_that_repeat_nothing_may_be_refused_first() -> None:
    mismatch = refusal(HEADER_MISMATCH)
    assert seen("text", on_http("malformed", "400 Bad Request", mismatch, PER_REQUEST[-1])) == [True]
    assert seen("text", on_http("malformed", "400 Bad Request", mismatch)) == [False]
    assert seen("envelope", on_http("version", "400 Bad Request", mismatch, PER_REQUEST[-1])) == [False]


def test_server_that_refuses_the_next_request_has_not_recovered() -> None:
    assert seen("recovers", on_stdio("malformed", refusal(PARSE_ERROR))) == [True]
    confused = on_stdio("malformed", refusal(PARSE_ERROR), after=refusal(PARSE_ERROR, "sentinel-1-1"))
    assert seen("recovers", confused) == [False]


def test_server_that_ends_has_not_recovered() -> None:
    ended = attempted(stdio_trace((">", b"bad\n")), "deep-nesting", broke="it ended with status 1")
    assert seen("recovers", ended) == [False]
    (found,) = SUITE.checks["negatives.hostile"].judge(ended)
    assert "it ended with status 1" in found.observed


def test_attempt_that_the_driver_was_stopped_in_proves_nothing() -> None:
    whole = on_stdio("malformed", refusal(PARSE_ERROR))
    begun = Trace(whole.header, whole.frames[:-1])
    assert seen("recovers", begun) == seen("text", begun) == []


def keep(result: CellResult, trace: Trace) -> CellResult:
    return result


async def played(subject: Subject, conditions: Conditions, revision: Revision, scenario: str) -> Run:
    order = RunSettings(SUITE, Selection((scenario,), (revision,)), conditions)
    return await Runner(order, [subject], lambda event: None, keep).run()


def verdicts(run: Run) -> dict[str, Verdict]:
    return {check.id: check.verdict for cell in run.cells for check in cell.checks}


async def test_all_bad_messages_are_tried_on_a_server_that_each_of_them_ends() -> None:
    """One that ends is started again: what comes after is judged, too."""
    subject = CommandSubject([sys.executable, "-c", ENDS, HANDSHAKE[-1].date])
    run = await played(subject, Conditions(), HANDSHAKE[-1], "negatives.text")
    assert not run.cells[0].broke_off
    found = verdicts(run)
    assert found["CONF-JRPC-03.malformed"] is found["CONF-JRPC-03.truncated"] is Verdict.FAILURE
    assert found["CONF-JRPC-03.recovers"] is Verdict.FAILURE
    assert found["CONF-JRPC-03.duplicate-keys"] is Verdict.SUCCESS


@pytest.mark.parametrize(("listed", "verdict"), [(True, Verdict.SUCCESS), (False, Verdict.FAILURE)])
async def test_batches_are_served_where_the_registry_entry_lists_them(listed: bool, verdict: Verdict) -> None:
    entry = {"_meta": {PUBLISHER: {PROFILE: {"jsonrpc": {"batch": listed}}}}}
    conditions = Conditions(out_of_band=OutOfBand(registry=entry))
    run = await played(bundled("reference", Transport.STDIO), conditions, BATCHING, "negatives.batch")
    assert verdicts(run)["CONF-JRPC-03.batch"] is verdict


async def test_listed_batches_that_are_refused_are_found() -> None:
    entry = {"_meta": {PUBLISHER: {PROFILE: {"jsonrpc": {"batch": True}}}}}
    conditions = Conditions(out_of_band=OutOfBand(registry=entry))
    subject = bundled("reference", Transport.STDIO, "--profile", "intelgraph/2025-10")
    run = await played(subject, conditions, BATCHING, "negatives.batch")
    assert verdicts(run)["CONF-JRPC-03.batch"] is Verdict.FAILURE
