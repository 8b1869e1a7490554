"""The metadata of an authorization server is read before it is used, and looked for in the right order."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.journey import OAUTH, OIDC, Journey, Spot, before, path_in, path_of
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

USED, OPENID, WITH_PATH, WITHOUT_PATH = "AU-22", "AU-23", "AU-24", "AU-25"


@check(
    "Metadata of the authorization server is found and used",
    rows=(USED, OPENID, WITH_PATH, WITHOUT_PATH),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for spot in journey.spots:
        yield from _used(journey, spot)
        yield from _openid(journey, spot)
        yield from _order(journey, spot)


def _used(journey: Journey, spot: Spot) -> Iterator[Observation]:
    stops = [*journey.registrations, *journey.authorizations, *journey.exchanges]
    first = min((stop.n for stop in stops if stop.spot == spot), default=None)
    if first is None or not any(OAUTH in place for place in spot.documents):
        return
    stop = next(stop for stop in stops if stop.n == first)
    read = [call for call in before(journey.documents_of(spot), first) if call.status == 200]
    expected = "the metadata read before any endpoint of the authorization server is used"
    yield observe(
        USED, bool(read), *read[:1], stop, expected=expected, observed=f"{path_in(stop.call)} first"
    )


def _openid(journey: Journey, spot: Spot) -> Iterator[Observation]:
    """Where there is only the document of OpenID Connect."""
    places = {path_of(url) for url in spot.documents}
    asked = journey.documents_of(spot)
    if asked and places and not any(OAUTH in place for place in places):
        found = [call for call in asked if path_in(call) in places]
        expected = f"a request for {min(places)}"
        observed = "only " + ", ".join(dict.fromkeys(map(path_in, asked)))
        yield observe(OPENID, bool(found), *asked, expected=expected, observed=observed)


def _order(journey: Journey, spot: Spot) -> Iterator[Observation]:
    tenant = spot.tenant
    places = list(dict.fromkeys([f"{OAUTH}{tenant}", f"{OIDC}{tenant}", f"{tenant}{OIDC}"]))
    asked: dict[str, Call] = {}
    for one in journey.documents_of(spot):
        asked.setdefault(path_in(one), one)
    for number, place in enumerate(places):
        if place in asked:
            call = asked[place]
            # Several may be asked for at once: what matters is what was known when the answer came.
            answered = call.received[-1].n if call.received else call.request.n
            missing = [at for at in places[:number] if at not in asked or asked[at].request.n > answered]
            row = WITH_PATH if tenant else WITHOUT_PATH
            expected = "before it " + ", ".join(places[:number])
            yield observe(row, not missing, call, expected=expected, observed=f"{place} without {missing}")
