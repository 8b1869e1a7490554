"""What an authorization server answered by its redirect, and whether the client took it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

from .journey import Journey, Stop
from .official_auth import AUTHORIZATION, walked

ANNOUNCED: Final = "authorization_response_iss_parameter_supported"
REACHED: Final = "an authorization request, whose answer is then judged"
STOPPED: Final = "the code that came with it is sent to no token endpoint"
TAKEN: Final = "a token request with the code that came with it"


class Answered(Struct, frozen=True):
    """An authorization request that was answered with a redirect."""

    asked: Stop
    params: dict[str, str]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.asked.frames

    @property
    def issuer(self) -> str | None:
        return self.params.get("iss")

    def taken(self, journey: Journey) -> list[Stop]:
        """The token requests with its code, wherever they went."""
        code = self.params.get("code")
        return [stop for stop in journey.exchanges if code and stop.said.get("code") == code]


def answers(journey: Journey) -> Iterator[Answered]:
    for stop in journey.authorizations:
        location = None if stop.call.head is None else stop.call.head.get("location")
        if location is not None and stop.call.status in (302, 303):
            yield Answered(stop, _params(location))


def _params(location: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(urlsplit(location).query, keep_blank_values=True))
    except ValueError:
        return {}


def refused(trace: Trace, row: str) -> Iterator[Observation]:
    """Scenarios whose answer must not be taken: the client gets one, and stops."""
    journey = Journey(trace)
    own = [_stopped(row, one, journey) for one in answers(journey)]
    yield from walked(trace, own, wanted={row: REACHED})


def _stopped(row: str, answer: Answered, journey: Journey) -> Observation:
    taken = answer.taken(journey)
    observed = f"a token request, although iss was {answer.issuer!r} from {answer.asked.spot.issuer}"
    return observe(row, not taken, answer, *taken, expected=STOPPED, observed=observed)


def accepted(trace: Trace, row: str) -> Iterator[Observation]:
    """Scenarios whose answer is right: the client takes it. One answer is enough."""
    journey = Journey(trace)
    given = list(answers(journey))
    taken = [stop for one in given for stop in one.taken(journey)]
    own = []
    if given:
        own = [observe(row, bool(taken), *given, *taken, expected=TAKEN, observed="no such request")]
    yield from walked(trace, own, owed=(AUTHORIZATION,), wanted={row: TAKEN})
