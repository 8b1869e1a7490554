"""What was kept is not used for something else, nor where it must not have been kept."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import AFTER, calls_of
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

ONE, OTHER, ASKED = "test://one", "test://other", "test://asked"
READ = "resources/read"


@check("An answer is not used for another request", rows=("CA-06", "CA-07"))
def judge(trace: Trace) -> Iterator[Observation]:
    after = calls_of(trace, AFTER)[:1]
    if _read(trace, ONE) and (after or _read(trace, OTHER)):
        other = _read(trace, OTHER)
        expected, observed = f"{READ} of {OTHER}", "none: the answer of another was used"
        yield observe(
            "CA-06", bool(other), *_read(trace, ONE), *other, *after, expected=expected, observed=observed
        )
    asked = _read(trace, ASKED)
    retried = [one for one in asked if "inputResponses" in one.params and one.result is not None]
    if retried and after:
        since = retried[0].request.frame.n
        again = [one for one in asked if one.request.frame.n > since]
        expected, observed = f"{READ} of {ASKED} again", "none: the result of a retry was kept"
        yield observe(
            "CA-07", bool(again), retried[0], *again[:1], *after, expected=expected, observed=observed
        )


def _read(trace: Trace, uri: str) -> list[Exchange]:
    return [one for one in trace.inquiries(READ) if one.params.get("uri") == uri]
