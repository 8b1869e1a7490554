"""A server on this machine serves its own pages, and refuses those of other sites."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.everything.declaring import official_check
from assay.lab.harness.links.http_call import is_local
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

REJECTED, ACCEPTED = "localhost-host-rebinding-rejected", "localhost-host-valid-accepted"
OPENING: Final = ("initialize", "server/discover")


@official_check(
    "dns-rebinding-protection",
    "Pages of other sites are not served",
    rows=(REJECTED, ACCEPTED),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    calls = [call for call in trace.calls if call.head is not None and call.sent.get("origin") is not None]
    own = [call for call in calls if _is_own(call)]
    for call in own:
        served = 200 <= call.status < 300 and (not _opens(call) or _is_answered(call))
        expected = f"Origin {call.sent.get('origin')} served, which is the server's own"
        yield observe(ACCEPTED, served, call, expected=expected, observed=f"status {call.status}")
    # A refusal says something only of a server that serves the same request otherwise.
    control = [call for call in own if _opens(call) and _is_answered(call)]
    for call in calls:
        if not _is_own(call) and (control or call.status < 400):
            yield observe(
                REJECTED,
                400 <= call.status < 500,
                *control[:1],
                call,
                expected=f"status 4xx for Host {call.sent.get('host')}, Origin {call.sent.get('origin')}",
                observed=f"status {call.status}",
            )


def _is_own(call: Call) -> bool:
    return is_local((call.sent.get("origin") or "").partition("://")[2])


def _opens(call: Call) -> bool:
    return any(message.method in OPENING for message in call.asked)


def _is_answered(call: Call) -> bool:
    return any("result" in message.fields for message in call.messages)
