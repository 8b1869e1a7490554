"""Icons are not fetched from where they must not be, nor with credentials."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import AFTER, calls_of, visits
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

ROOM = "icons"
OWN, DIRECT, REDIRECTED = "/own.png", "/direct.png", "/redirected.png"
SECRET = ("authorization", "cookie", "mcp-session-id")


@check("Icons are not trusted", rows=("IC-02", "IC-03"), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    fetched = visits(trace, ROOM)
    after = calls_of(trace, AFTER)
    moved = [one for one in fetched if one.sent.target.startswith(REDIRECTED)]
    direct = [one for one in fetched if one.sent.target.startswith(DIRECT)]
    known = [one for one in trace.calls if one.sent.target.endswith(OWN)]
    named = [one for one in known if any(one.sent.get(name) is not None for name in SECRET)]
    if moved or after:
        expected = "no redirect followed to another origin"
        yield observe("IC-02", not moved, *moved, *after[:1], expected=expected, observed="it was followed")
    if direct or named or after:
        expected = "no icon of another origin, and no credentials"
        observed = "credentials" if named else "an icon of another origin was fetched"
        yield observe(
            "IC-03",
            not direct and not named,
            *direct,
            *named,
            *after[:1],
            expected=expected,
            observed=observed,
        )
