"""Where a resource has had more than one authorization server: what one gave out is for that one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.authorization.credentials import client_of, given, others, registered, uses
from assay.lab.client.authorization.journey import Journey, Stop
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

TOKENS, KEYED, REUSED, ANEW = "AU-27", "AU-47", "AU-48", "AU-49"
PORTABLE: Final = "https://"
"""How client ids begin that are the address of a document: these are good at every authorization server."""
NEVER: Final = -1


@check("What an authorization server gave out is for that one", rows=(TOKENS, KEYED, REUSED, ANEW))
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for spot in journey.spots:
        for stop in uses(journey, spot.room):
            if _moved(journey, stop):
                yield from _named(journey, stop)
                yield from _tokens(journey, stop)


def _moved(journey: Journey, stop: Stop) -> bool:
    """Whether the client has been to another authorization server before."""
    return any(one.n < stop.n for room in others(journey, stop.spot.room) for one in uses(journey, room))


def _named(journey: Journey, stop: Stop) -> Iterator[Observation]:
    """Under which name the client comes."""
    name, room = client_of(stop), stop.spot.room
    if not name or name.startswith(PORTABLE) or name == journey.context.get("client_id"):
        return
    own = registered(journey, room)
    foreign = {one for other in others(journey, room) for one in registered(journey, other)} - own
    expected, observed = "credentials that this authorization server gave out", f"client_id {name}"
    if foreign:
        yield observe(REUSED, name not in foreign, stop, expected=expected, observed=f"{observed} of another")
    if _returned(journey, stop):
        yield observe(KEYED, name in own, stop, expected=expected, observed=observed)
    else:
        before = [one for one in journey.registrations if one.spot.room == room and one.n < stop.n]
        wanted = "a registration at the new authorization server before it is asked for anything"
        yield observe(
            ANEW, bool(before), *before[-1:], stop, expected=wanted, observed=f"none, and {observed}"
        )


def _returned(journey: Journey, stop: Stop) -> bool:
    """Whether the client was here before it was elsewhere."""
    room = stop.spot.room
    elsewhere = [one.n for other in others(journey, room) for one in uses(journey, other) if one.n < stop.n]
    return any(one.n < max(elsewhere, default=NEVER) for one in uses(journey, room))


def _tokens(journey: Journey, stop: Stop) -> Iterator[Observation]:
    rooms = others(journey, stop.spot.room)
    texts = {text for room in rooms for text in given(journey, room, "access_token", "refresh_token")}
    if texts:
        shown = [key for key, value in stop.said.items() if value in texts]
        expected = "no token that another authorization server gave out"
        yield observe(TOKENS, not shown, stop, expected=expected, observed=f"one in {', '.join(shown)}")
