"""What is no JSON, and what is no request, is refused with the code that JSON-RPC has for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.trace.unexplained_error import is_sound, names_nothing
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Observation, observe
from assay.model import error
from assay.revisions.revision import Opening, Revision

# HTTP looks at headers first, and a message without `_meta` is refused for that where every one must have it.
EARLIER = {
    Opening.HANDSHAKE: frozenset[int](),
    Opening.PER_REQUEST: frozenset({error.HEADER_MISMATCH, error.UNSUPPORTED_VERSION, error.INVALID_PARAMS}),
}


@check("What cannot be served is refused with its own code", rows=("RPC-01",))
def judge(trace: Trace) -> Iterator[Observation]:
    malformed = [one for one in trace.messages if not one.by_subject and not is_sound(one) and _asks(one)]
    for answer in trace.received:
        # Who takes it for a request all the same, and does not know the method, is only generous.
        if answer.shape is Shape.ERROR and answer.code != error.METHOD_NOT_FOUND:
            meant = [one for one in malformed if _may_mean(answer, one, trace)]
            right = _codes(meant, trace.revision)
            if meant:
                expected = f"error {' or '.join(map(str, sorted(right)))}"
                observed = answer
                yield observe(
                    "RPC-01", answer.code in right, *meant, answer, expected=expected, observed=observed
                )


def _asks(message: Message) -> bool:
    """Whether it may be taken for a broken request: notifications and responses are none."""
    return message.shape not in (Shape.NOTIFICATION, Shape.RESULT, Shape.ERROR)


def _may_mean(answer: Message, sent: Message, trace: Trace) -> bool:
    """An answer without an id may mean anything before it: on one channel it need not keep the order."""
    if sent.frame.n > answer.frame.n or sent.frame.connection != answer.frame.connection:
        return False
    if trace.transport == Transport.HTTP and sent.frame.channel != answer.frame.channel:
        return False
    return names_nothing(answer) or same_id(answer.id, sent.id)


def _codes(meant: Sequence[Message], revision: Revision) -> frozenset[int]:
    return EARLIER[revision.opening].union(*map(_codes_for, meant))


def _codes_for(sent: Message) -> set[int]:
    if sent.value is None:
        return {error.PARSE_ERROR}
    # Parameters that are no object may be told from a request that is none.
    return {error.INVALID_REQUEST, *([error.INVALID_PARAMS] if "params" in sent.fields else [])}
