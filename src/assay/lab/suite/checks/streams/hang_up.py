"""Who hangs up on a request hears no more of it, wherever a server could still tell it."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.streamed import requests, token_of


@check("Hanging up cancels the request", rows=("HTTP-20", "HTTP-21"), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    left = {
        frame.channel: frame
        for frame in trace.frames
        if frame.kind is Kind.END and frame.sender is Sender.DRIVER
    }
    for call in (one for one in trace.calls if one.channel in left and requests(one)):
        end = left[call.channel]
        later = [one for one in trace.received if one.frame.n > end.n and one.frame.channel != call.channel]
        about = [one for one in later if any(_is_about(one, asked) for asked in requests(call))]
        answers = [one for one in about if one.is_response]
        for row, found in (("HTTP-20", answers), ("HTTP-21", [one for one in about if not one.is_response])):
            yield observe(
                row,
                not found,
                call,
                *found,
                expected="nothing more about the request that was hung up on",
                observed=found[0] if found else "nothing",
            )


def _is_about(message: Message, request: Message) -> bool:
    if message.is_response:
        return repr(message.id) == repr(request.id)
    meta = message.params.get("_meta")
    named = meta.get(SUBSCRIPTION_KEY) if isinstance(meta, dict) else None
    token = token_of(request)
    told = message.params.get("progressToken")
    return repr(named) == repr(request.id) or (token is not None and repr(told) == repr(token))
