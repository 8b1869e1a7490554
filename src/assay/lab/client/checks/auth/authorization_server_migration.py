"""A client registers with the new authorization server, and shows it nothing of the former one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.authorization.credentials import client_of, given, registered, uses
from assay.lab.client.authorization.journey import Journey
from assay.lab.client.authorization.official_auth import SHARED, walked
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ANEW, REUSED, ACROSS = (
    "sep-2352-reregister-on-as-change",
    "sep-2352-no-reuse-on-as-change",
    "sep-2352-no-cross-as-credential-reuse",
)
OWED: Final = {ANEW: "a registration at the authorization server that the metadata names now"}
GIVEN: Final = ("client_id", "client_secret", "access_token", "refresh_token")


@official_check(
    "auth/authorization-server-migration",
    "Another authorization server",
    rows=(ANEW, REUSED, ACROSS, *SHARED),
)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    rooms = [spot.room for spot in journey.spots]
    yield from walked(trace, _seen(journey, *rooms) if len(rooms) == 2 else (), wanted=OWED)


def _seen(journey: Journey, former: str, new: str) -> Iterator[Observation]:
    for stop in journey.registrations:
        if stop.spot.room == new:
            yield observe(ANEW, True, stop, expected="", observed="")
    known = registered(journey, former)
    for stop in uses(journey, new):
        name = client_of(stop)
        expected = "another client_id than at the former authorization server"
        yield observe(REUSED, name not in known, stop, expected=expected, observed=f"client_id {name}")
    yield from _leaks(journey, former, new)


def _leaks(journey: Journey, former: str, new: str) -> Iterator[Observation]:
    """Whatever the former one gave out, anywhere in requests to the new one."""
    texts = {text.encode() for text in given(journey, former, *GIVEN)}
    for call in journey.trace.calls:
        if texts and call.request.connection == new:
            shown = any(text in call.request.raw for text in texts)
            expected = "nothing that the former authorization server gave out"
            yield observe(ACROSS, not shown, call, expected=expected, observed="some of it is in the request")
