"""Traces of servers that claim the profile, written by hand, and what the checks make of them."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.run.recording import judge
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import CheckResult
from assay.lab.suites import suite_named
from assay.revisions.registry import HANDSHAKE
from tests.lab.traces import request, result, stdio_trace

SUITE = suite_named("marketplace")
Said = tuple[str, dict[str, Any], dict[str, Any]]
"""A method, the parameters of the request, the content of the result."""


def exchanges(*said: Said) -> list[tuple[str, Any]]:
    turns: list[tuple[str, Any]] = []
    for number, (method, params, content) in enumerate(said):
        turns += [(">", request(number, method, **params)), ("<", result(number, **content))]
    return turns


def trace_of(*said: Said, marks: tuple[dict[str, Any], ...] = ()) -> Trace:
    """The conversation on stdio, and what was seen beside it."""
    trace = stdio_trace(*exchanges(*said))
    count = len(trace.frames)
    seen = [
        Frame(count + n, 1.0, Sender.DRIVER, "beside/notes", Kind.MARK, info=info)
        for n, info in enumerate(marks)
    ]
    return Trace(trace.header, [*trace.frames, *seen])


def told_by_http(target: str, body: bytes, *, status: str = "200 OK", media: str = "application/json") -> Any:
    """The frames of a document that is fetched, as `(who, channel, kind, raw)`."""
    channel = f"1/get-{target.rpartition('-')[2]}"
    head = f"HTTP/1.1 {status}\r\nContent-Type: {media}\r\n\r\n".encode()
    return [
        (Sender.DRIVER, channel, Kind.REQUEST, f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode()),
        (Sender.SUBJECT, channel, Kind.HEAD, head),
        (Sender.SUBJECT, channel, Kind.BODY, body),
    ]


def http_trace(*parts: Any) -> Trace:
    frames = [Frame(n, n / 1000, *part) for n, part in enumerate(parts)]
    header = Header(HANDSHAKE[-1].date, "http", "http://localhost:1/mcp", "by-hand", closed=True)
    return Trace(header, frames)


def judged(check: str, trace: Trace) -> dict[str, CheckResult]:
    """The results of a check by the last words of their rows."""
    found = judge(SUITE, [SUITE.checks[f"cap.{check}"]], trace)
    return {one.id.removeprefix("CONF-CAP-03."): one for one in found}


def verdicts(check: str, trace: Trace) -> dict[str, str]:
    return {row: one.verdict.value for row, one in judged(check, trace).items()}
