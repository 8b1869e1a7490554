"""A client begins with `initialize`, says what it must, and asks for nothing before the answer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from assay.lab.client.evidence import FIRST, Handshake, describes_itself, handshakes
from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Observation, observe

TOLD = {"protocolVersion": str, "capabilities": dict, "clientInfo": dict}
PING, READY = "ping", "notifications/initialized"


@check(
    "The handshake comes first, and is whole",
    rows=("LIFE-01", "LIFE-02", "LIFE-04", "LIFE-05"),
    everywhere=True,
)
def judge(trace: Trace) -> Iterator[Observation]:
    for first in _firsts(trace):
        yield observe(
            "LIFE-01", first.method == FIRST, first, expected="`initialize` before all else", observed=first
        )
    for handshake in handshakes(trace):
        params = handshake.exchange.params
        lacking = [name for name, kind in TOLD.items() if not isinstance(params.get(name), kind)]
        expected, observed = ", ".join(TOLD), f"no {', '.join(lacking)}"
        yield observe("LIFE-02", not lacking, handshake, expected=expected, observed=observed)
        if handshake.agreed is not None:
            yield from _followed(handshake)
    for handshake in _alone(trace):
        yield from _hurried(handshake)


def _firsts(trace: Trace) -> Iterator[Message]:
    """The first message of each connection, after pings and what only tries for a newer revision."""
    seen: set[str] = set()
    for message in trace.received:
        connection = message.frame.connection
        if (
            message.method
            and connection not in seen
            and message.method != PING
            and not describes_itself(message)
        ):
            seen.add(connection)
            yield message


def _alone(trace: Trace) -> Iterator[Handshake]:
    """Those whose requests can be told: over HTTP, two conversations may go on at once, so only the first."""
    answered = (one for one in handshakes(trace) if one.agreed is not None)
    return islice(answered, 1) if trace.transport == Transport.HTTP else answered


def _hurried(handshake: Handshake) -> Iterator[Observation]:
    early = [one for one in _asked(handshake) if one.frame.n < handshake.answered]
    expected, observed = "no request before the answer to `initialize`", ", ".join(map(str, early))
    yield observe("LIFE-05", not early, *early, handshake, expected=expected, observed=observed)


def _asked(handshake: Handshake) -> list[Message]:
    return [one for one in handshake.later if one.method and "id" in one.fields and one.method != PING]


def _followed(handshake: Handshake) -> Iterator[Observation]:
    asked = _asked(handshake)
    ready = any(one.method == READY for one in handshake.later)
    if ready or asked:
        observed = f"{asked[0]} without it" if asked else ""
        yield observe("LIFE-04", ready, handshake, *asked[:1], expected=READY, observed=observed)
