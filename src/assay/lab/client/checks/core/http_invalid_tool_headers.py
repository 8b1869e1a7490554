"""Tools with marks that no client may accept are never called, and do not keep others from being called."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.fixtures.ill_marked_tools import FAULTS, VALID
from assay.lab.client.owed import with_owed
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

LISTED = "sep-2243-invalid-tool-tools-list-gate"
KEPT = "sep-2243-client-reject-invalid-tool"
OWED = {LISTED: "a request tools/list", KEPT: f"a call of {VALID}"}


@official_check(
    "http-invalid-tool-headers",
    "Tools with marks that no client may accept are left out",
    rows=(LISTED, KEPT, *FAULTS),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from with_owed(trace, _seen(trace), OWED)


def _seen(trace: Trace) -> Iterator[Observation]:
    calls = {str(one.params.get("name")): one for one in trace.inquiries("tools/call")}
    for listing in trace.inquiries("tools/list"):
        yield observe(LISTED, True, listing, expected="", observed="")
    if VALID in calls:
        yield observe(KEPT, True, calls[VALID], expected="", observed="")
    for row, tools in FAULTS.items():
        for name in tools:
            yield from _left_out(row, name, calls)


def _left_out(row: str, name: str, calls: dict[str, Exchange]) -> Iterator[Observation]:
    """That it was not called shows something only in a client that did call what it might."""
    if name in calls:
        told = f"a call of {name}"
        yield observe(row, False, calls[name], expected=f"no call of {name}", observed=told)
    elif VALID in calls:
        yield observe(row, True, calls[VALID], expected="", observed="")
