"""The handshake is answered in full, at the revision that was agreed on, and leads to a conversation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.everything.answered import answered
from assay.lab.everything.borrowed import borrow
from assay.lab.everything.declaring import official_check
from assay.lab.everything.listed import lacking
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.checks.http import session_id

INITIALIZE, ASCII = "server-initialize", "server-session-id-visible-ascii"


@official_check(INITIALIZE, "The handshake is answered in full", rows=(INITIALIZE, ASCII))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "initialize"):
        problem = _problem(exchange, trace.revision.date)
        expected = f"protocolVersion {trace.revision}, capabilities, and serverInfo with name and version"
        yield observe(INITIALIZE, problem is None, exchange, expected=expected, observed=problem)
    yield from _initialized(trace)
    yield from borrow(trace, ASCII, session_id.judge, "HTTP-37")


def _problem(exchange: Exchange, agreed: str) -> str | None:
    result = exchange.result
    if result is None:
        return str(exchange)
    if result.get("protocolVersion") != agreed:
        return f"protocolVersion {result.get('protocolVersion')!r}"
    if not isinstance(result.get("capabilities"), dict):
        return f"capabilities {result.get('capabilities')!r}"
    server: Any = result.get("serverInfo")
    return lacking(server, "name", "version") if isinstance(server, dict) else "no serverInfo"


def _initialized(trace: Trace) -> Iterator[Observation]:
    """`notifications/initialized` is accepted; only HTTP shows that."""
    for call in trace.calls:
        told = any(one.method == "notifications/initialized" for one in call.asked)
        if told and call.sent.method == "POST" and call.head is not None:
            accepted = 200 <= call.status < 300
            expected = "status 202 for notifications/initialized"
            yield observe(INITIALIZE, accepted, call, expected=expected, observed=f"status {call.status}")
