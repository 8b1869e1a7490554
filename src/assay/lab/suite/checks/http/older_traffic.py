"""What older clients send to a server of a revision without sessions."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.mirrored import VERSION, Flaw, is_mismatch, standard_mirrors
from assay.model.error import HEADER_MISMATCH
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Revision


@check(
    "What older clients send is told from the rest",
    rows=("HTTP-53", "HTTP-66", "HTTP-67", "HTTP-68"),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    opening = next((call for call in trace.calls if _opens(call)), None)
    if opening is None or opening.head is None:
        return
    agreed = _agreed(opening)
    for call in trace.calls:
        if call is opening or call.head is None:
            continue
        yield from _without_version(call, trace.revision, agreed)
        if agreed is None:
            yield from _to_newcomer(call)


def _opens(call: Call) -> bool:
    return any(message.method == "initialize" for message in call.asked)


def _agreed(opening: Call) -> str | None:
    """The version that an older client was offered; none where it was turned away."""
    found = (message.result.get("protocolVersion") for message in opening.messages)
    return next((version for version in found if isinstance(version, str)), None)


def _without_version(call: Call, revision: Revision, agreed: str | None) -> Iterator[Observation]:
    mirrors = standard_mirrors(call, revision)
    flawed = [one for one in mirrors if one.flaw is not None]
    if len(flawed) != 1 or (flawed[0].header, flawed[0].flaw) != (VERSION, Flaw.MISSING):
        return
    served = BY_DATE.get(agreed or "")
    # Clients from before the header may be served without it, if there are such clients.
    if is_mismatch(call) or served is None or served.http.version_header:
        yield observe(
            "HTTP-53",
            is_mismatch(call),
            call,
            expected=f"status 400 with error {HEADER_MISMATCH}: the version header is missing",
            observed=f"status {call.status}, error {call.code}",
        )


def _to_newcomer(call: Call) -> Iterator[Observation]:
    """A server that has no older revision."""
    status = f"status {call.status}"
    if call.sent.method in ("GET", "DELETE"):
        yield observe("HTTP-66", call.status == 405, call, expected="status 405", observed=status)
        return
    answered = any(message.shape is Shape.RESULT for message in call.messages)
    minted = call.head.get("mcp-session-id") if call.head is not None else None
    if call.session is not None:
        expected = "an answer as without the session id, and none given out"
        observed = f"{status}, session id {minted}"
        yield observe("HTTP-67", answered and minted is None, call, expected=expected, observed=observed)
    if call.resumes is not None:
        expected = "an answer as without Last-Event-ID"
        yield observe("HTTP-68", answered, call, expected=expected, observed=status)
