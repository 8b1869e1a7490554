"""A version header that names no version is refused; one that is not there is no reason to refuse."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.registry import BY_DATE


@check(
    "A version header that names no version gets 400, a missing one does no harm",
    rows=("HTTP-46", "HTTP-47"),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if call.head is None or any(message.method == "initialize" for message in call.asked):
            continue
        version = call.sent.get("mcp-protocol-version")
        if version is None and call.sent.method == "POST":
            yield observe(
                "HTTP-46",
                call.status < 400,
                call,
                expected="the version that the session agreed on, or the assumed one",
                observed=f"status {call.status} without a version header",
            )
        elif version is not None and version not in BY_DATE and not _declines_method(call):
            yield observe(
                "HTTP-47", call.status == 400, call, expected="status 400", observed=f"status {call.status}"
            )


def _declines_method(call: Call) -> bool:
    return call.sent.method != "POST" and call.status == 405
