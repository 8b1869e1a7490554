"""The authorization server is found through the metadata of the resource, and that where the rules say."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.journey import Journey, before, path_in, path_of
from assay.lab.client.authorization.protected import ROOT
from assay.lab.harness.check import check
from assay.lab.harness.trace.challenge import METADATA
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

THROUGH, HEEDED, ORDER = "AU-11", "AU-12", "AU-13"


@check(
    "Metadata of the resource leads to the authorization server",
    rows=(THROUGH, HEEDED, ORDER),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    if not any(spot.metadata for spot in journey.spots):
        return  # there is none to be found
    yield from _through(journey)
    yield from _heeded(journey)
    for call in journey.resource_documents[:1]:
        named = _named(before((one for one, _ in journey.challenged), call.request.n), journey)
        expected = named or f"{ROOT}{path_of(journey.spots[0].url)}"
        at = path_in(call)
        yield observe(ORDER, at == expected, call, expected=f"{expected} asked for first", observed=at)


def _through(journey: Journey) -> Iterator[Observation]:
    for call in _of_servers(journey)[:1]:
        asked = before(journey.resource_documents, call.request.n)
        expected = "the metadata of the resource asked for before any authorization server"
        yield observe(THROUGH, bool(asked), *asked[:1], call, expected=expected, observed=_told(call))


def _heeded(journey: Journey) -> Iterator[Observation]:
    for call, challenge in journey.challenged[:1]:
        named = path_of(challenge.params[METADATA]) if METADATA in challenge.params else ""
        later = [*journey.resource_documents, *_of_servers(journey)]
        later = [one for one in later if one.request.n > call.request.n]
        if named and later:
            asked = [one for one in later if path_in(one) == named]
            expected = f"a request for {named}, which the challenge names"
            yield observe(HEEDED, bool(asked), call, expected=expected, observed=_told(later[0]))


def _named(challenged: list[Call], journey: Journey) -> str:
    """The place that challenges had named by then."""
    told = [challenge for call, challenge in journey.challenged if call in challenged]
    return next((path_of(one.params[METADATA]) for one in told if METADATA in one.params), "")


def _of_servers(journey: Journey) -> list[Call]:
    """All requests that are for an authorization server, wherever it was looked for."""
    stops = (*journey.registrations, *journey.authorizations, *journey.exchanges)
    calls = [*journey.server_documents, *(stop.call for stop in stops)]
    return sorted(calls, key=lambda call: call.request.n)


def _told(call: Call) -> str:
    return f"{call.sent.method} {path_in(call)}"
