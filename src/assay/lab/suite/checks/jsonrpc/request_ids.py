"""What a server asks has an id of its own: a text or an integer, never null, never used before."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.envelope import has_proper_id

NOTIFICATION = "notifications/"
# Requests that some revision gives to servers: without an id they are still meant as such.
ASKING = frozenset({"ping", "roots/list", "sampling/createMessage", "elicitation/create"})


@check(
    "Requests of the server have ids of their own", rows=("BASE-02", "BASE-03", "BASE-04"), everywhere=True
)
def judge(trace: Trace) -> Iterator[Observation]:
    requests = [one for one in trace.received if _is_request(one)]
    for place, message in enumerate(requests):
        yield from has_proper_id(message)
        if (session := _session(trace, message)) is not None:
            before = [one for one in requests[:place] if _session(trace, one) == session]
            used = next((one for one in before if same_id(one.id, message.id)), None)
            evidence = (message,) if used is None else (used, message)
            expected = "an id that it has not used in this session"
            yield observe("BASE-04", used is None, *evidence, expected=expected, observed=message.id)


def _is_request(message: Message) -> bool:
    if message.shape is Shape.REQUEST:
        return not message.method.startswith(NOTIFICATION)
    return message.shape is Shape.NOTIFICATION and message.method in ASKING


def _session(trace: Trace, message: Message) -> tuple[str, str] | None:
    """Within what its ids must differ; none where there is no session, or where it may be a repetition."""
    if trace.transport != Transport.HTTP:
        return message.frame.connection, ""
    call = next((one for one in trace.calls if one.channel == message.frame.channel), None)
    if call is None or call.session is None or call.resumes is not None:
        return None
    return message.frame.connection, call.session
