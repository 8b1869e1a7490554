"""Every message is one JSON object that says it is JSON-RPC 2.0."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.frame import Kind
from assay.lab.harness.message import Message
from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.revision import Batching


@check("Every message is a JSON-RPC 2.0 object", rows=("BASE-01",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    batches = trace.revision.batching is Batching.ACCEPTED
    for message in trace.received:
        # A line that is no JSON is no message at all: see `framing.pure-input`.
        if message.value is not None or message.frame.kind is not Kind.LINE:
            problem = _problem(message, batches)
            expected = 'an object with `jsonrpc: "2.0"`'
            yield observe("BASE-01", problem is None, message, expected=expected, observed=problem)


def _problem(message: Message, batches: bool) -> str | None:
    if message.problem is not None:
        return message.problem
    if message.place is not None and not batches:
        return "an array, in a revision without batches"
    said = message.fields.get("jsonrpc")
    return None if said == "2.0" else f"jsonrpc is {said!r}"
