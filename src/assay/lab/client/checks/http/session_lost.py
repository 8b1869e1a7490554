"""A client whose session is not known any more begins anew."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import endpoint_calls, is_over
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

from .session_named import opens


@check("A lost session is begun anew", rows=("HTTP-42",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    posts = list(endpoint_calls(trace, "POST"))
    for call in posts:
        if call.status != 404 or call.session is None or opens(call):
            continue
        again = next((one for one in posts if opens(one) and one.request.n > call.request.n), None)
        if again is None and not is_over(trace):
            continue
        if again is None:
            observed = "none"
        else:
            observed = "one without it" if again.session is None else f"one with session {again.session}"
        yield observe(
            "HTTP-42",
            again is not None and again.session is None,
            call,
            *(() if again is None else (again,)),
            expected="an `initialize` without a session id",
            observed=observed,
        )
