"""Each message is a POST of its own, from a client that takes an answer of either kind."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import endpoint_calls
from assay.lab.harness.check import check
from assay.lab.harness.links.http_text import EVENT_STREAM, JSON, Head, body_of
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.revision import Batching


@check(
    "A message is a POST of its own",
    rows=("HTTP-06", "HTTP-07", "HTTP-08", "HTTP-27"),
    everywhere=True,
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    batches = trace.revision.batching is Batching.ACCEPTED
    for call in endpoint_calls(trace):
        method = call.sent.method
        if call.asked and any(one.fields for one in call.asked):
            alone = method == "POST" and (batches or len(call.asked) == 1)
            observed = f"{len(call.asked)} in a {method}"
            yield observe("HTTP-06", alone, call, expected="one message in a POST", observed=observed)
        if method == "POST":
            yield from _posted(call, batches)
        elif method == "GET":
            accepts = EVENT_STREAM in accepted(call.sent)
            yield observe("HTTP-27", accepts, call, expected=f"Accept: {EVENT_STREAM}", observed=_told(call))


def _posted(call: Call, batches: bool) -> Iterator[Observation]:
    both = {JSON, EVENT_STREAM} <= accepted(call.sent)
    yield observe("HTTP-07", both, call, expected=f"Accept: {JSON}, {EVENT_STREAM}", observed=_told(call))
    messages = [one for one in call.asked if one.method or one.is_response]
    whole = bool(messages) and len(messages) == len(call.asked)
    one = batches or all(message.place is None for message in messages)
    observed = f"{body_of(call.request.raw)[:80]!r}"
    yield observe("HTTP-08", whole and one, call, expected="a body that is one message", observed=observed)


def accepted(head: Head) -> set[str]:
    """The media types of all `Accept` headers, parameters left out."""
    members = ",".join(head.all("accept")).split(",")
    return {one.partition(";")[0].strip().lower() for one in members}


def _told(call: Call) -> str:
    return f"Accept: {', '.join(call.sent.all('accept')) or 'nothing'}"
