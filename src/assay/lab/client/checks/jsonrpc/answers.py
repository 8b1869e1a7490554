"""What a client answers: the id of the request, and a result or an error that is whole."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

LONGEST = 400
"""Characters. The schema only says "concise"; what is longer than this is not."""


@check(
    "Answers are whole, and name their request",
    rows=("BASE-06", "BASE-07", "BASE-08", "BASE-16"),
    everywhere=True,
)
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.answers:
            expected, observed = "one response", f"{len(exchange.answers)} of them"
            yield observe(
                "BASE-06", len(exchange.answers) == 1, exchange, expected=expected, observed=observed
            )
    for stray in trace.strays:
        # One without an id is judged as such: see `jsonrpc.nameless`.
        if stray.id is not None:
            expected = "the id of a request that was sent here"
            yield observe("BASE-06", False, stray, expected=expected, observed=f"id {stray.id!r}")
    for message in trace.received:
        if message.fields and "method" not in message.fields:
            yield from _whole(message)


def _whole(message: Message) -> Iterator[Observation]:
    keys = sorted({"result", "error"} & message.fields.keys())
    expected, observed = "exactly one of `result` and `error`", " and ".join(keys) or "neither"
    yield observe("BASE-07", len(keys) == 1, message, expected=expected, observed=observed)
    if "error" not in message.fields:
        return
    code, text = message.error.get("code"), message.error.get("message")
    expected = "an integer `code` and a string `message`"
    right = type(code) is int and isinstance(text, str)
    yield observe("BASE-08", right, message, expected=expected, observed=f"{message.fields['error']!r}")
    if isinstance(text, str):
        short = bool(text.strip()) and len(text) <= LONGEST and len(text.splitlines()) == 1
        observed = f"{len(text)} characters in {len(text.splitlines())} lines: {text[:80]!r}"
        yield observe("BASE-16", short, message, expected="one short sentence", observed=observed)
