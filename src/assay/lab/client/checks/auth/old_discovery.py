"""Before resources had metadata: the authorization server is where the endpoint is."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.journey import OAUTH, Journey, Spot, before, path_in
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

BASE, DEFAULTS, VERSION = "AU-28", "AU-29", "AU-31"


@check(
    "An authorization server on the endpoint's origin is found",
    rows=(BASE, DEFAULTS, VERSION),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for spot in journey.spots:
        if not spot.metadata:
            yield from (_base if spot.documents else _defaults)(journey, spot)
    for call in journey.server_documents:
        version = call.sent.get("mcp-protocol-version")
        expected = "a header MCP-Protocol-Version"
        yield observe(VERSION, version is not None, call, expected=expected, observed="none")


def _base(journey: Journey, spot: Spot) -> Iterator[Observation]:
    asked = [path_in(call) for call in journey.documents_of(spot)]
    if asked:
        holds = OAUTH in asked
        evidence = journey.documents_of(spot)
        yield observe(BASE, holds, *evidence, expected=f"a request for {OAUTH}", observed=", ".join(asked))


def _defaults(journey: Journey, spot: Spot) -> Iterator[Observation]:
    asked = journey.documents_of(spot)
    stops = [*journey.registrations, *journey.authorizations]
    for stop in sorted(stops, key=lambda one: one.n)[:1]:
        tried = before(asked, stop.n)
        expected = "metadata tried first, then the default endpoints"
        yield observe(DEFAULTS, bool(tried), *tried, stop, expected=expected, observed="no metadata tried")
    if asked and not stops:
        expected = "requests to the default endpoints, as there is no metadata"
        yield observe(DEFAULTS, False, *asked, expected=expected, observed="none")
