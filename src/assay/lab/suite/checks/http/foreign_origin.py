"""A page of another site that a browser on this machine shows is not served."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.links.http_call import is_local
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Observation, observe


@check(
    "A foreign Origin is refused",
    rows=("HTTP-02", "HTTP-03"),
    transports=frozenset({Transport.HTTP, Transport.HTTP_SSE}),
)
def judge(trace: Trace) -> Iterator[Observation]:
    own = {call.sent.get("host") for call in trace.calls if call.sent.get("origin") is None}
    # Who may come to a server that others reach is its operator's affair, and unknown here.
    if not own or not all(is_local(host or "") for host in own):
        return
    for call in trace.calls:
        origin = call.sent.get("origin")
        if origin is not None and not is_local(origin.partition("://")[2]) and call.head is not None:
            yield observe(
                "HTTP-02",
                not 200 <= call.status < 300,
                call,
                expected=f"a refusal of Origin {origin}",
                observed=f"status {call.status}",
            )
            if call.sent.get("host") in own and not _declines_method(call):
                yield observe(
                    "HTTP-03",
                    call.status == 403,
                    call,
                    expected="status 403",
                    observed=f"status {call.status}",
                )


def _declines_method(call: Call) -> bool:
    return call.sent.method != "POST" and call.status == 405
