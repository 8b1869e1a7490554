"""What was kept under one token is not used under another."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import AFTER, endpoint_calls
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

LIST = "tools/list"


@check("Private answers are not used under another token", rows=("CA-11",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    served = [one for one in endpoint_calls(trace, "POST") if one.status == 200 and _token(one)]
    end = next((one for one in served if _calls(one, AFTER)), None)
    listed = [one for one in served if any(message.method == LIST for message in one.asked)]
    # Only who was served under two tokens, and wanted the list under each, shows anything.
    if end is None or not listed or _token(listed[0]) == _token(end):
        return
    again = [one for one in listed if _token(one) == _token(end)]
    expected, observed = f"{LIST} again under the new token", "what was kept under the old one"
    yield observe("CA-11", bool(again), listed[0], *again[:1], end, expected=expected, observed=observed)


def _token(call: Call) -> str | None:
    return call.sent.get("authorization")


def _calls(call: Call, tool: str) -> bool:
    return any(one.method == "tools/call" and one.params.get("name") == tool for one in call.asked)
