"""Each line on standard output is one message, and a line may end in CR LF."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check

ROW = "CONF-TPT-01.stdio.framing"
LINE = "one JSON-RPC message in UTF-8 on a line of its own"


@profile_check("Lines on standard streams", rows=(ROW,), transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.frame.kind is Kind.LINE:
            observed = f"{message.body[:80]!r}: {message.problem or 'no object'}"
            yield observe(ROW, _is_message(message), message, expected=LINE, observed=observed)
    for frame in trace.frames:
        if _is_unended(frame):
            observed = f"{frame.raw[-80:]!r} without a newline"
            yield observe(ROW, False, frame, expected=LINE, observed=observed)
    yield from _by_crlf(trace)


def _is_message(message: Message) -> bool:
    return isinstance(message.value, dict)


def _is_unended(frame: Frame) -> bool:
    return frame.kind is Kind.LINE and frame.sender is Sender.SUBJECT and frame.raw[-1:] != b"\n"


def _by_crlf(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.request.frame.raw.endswith(b"\r\n") and (exchange.answer or _given_up(trace)):
            expected = "an answer to a line that ends in CR LF"
            yield observe(ROW, exchange.result is not None, exchange, expected=expected, observed=exchange)


def _given_up(trace: Trace) -> bool:
    return any(trace.marks("no answer"))
