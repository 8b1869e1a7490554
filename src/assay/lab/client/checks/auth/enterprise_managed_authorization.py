"""The user's ID token becomes a grant for the right server and resource, and the grant a token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.authority.federation import ID_JAG, ID_TOKEN
from assay.authority.record import JWT_BEARER, TOKEN_EXCHANGE
from assay.lab.client.authorization.journey import Journey, Stop, content, form_of, path_in, path_of
from assay.lab.client.authorization.official_auth import SHARED, walked
from assay.lab.client.authorization.token_endpoint import credentials
from assay.lab.client.authorization.vouching import ROOM
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.verdict import Observation, observe

EXCHANGED, BORNE = "complete-flow-token-exchange", "complete-flow-jwt-bearer"
OWED: Final = {
    EXCHANGED: "the ID token exchanged at the identity provider",
    BORNE: "the grant exchanged at the authorization server",
}


@official_check(
    "auth/enterprise-managed-authorization",
    "A user who is signed in elsewhere",
    rows=(EXCHANGED, BORNE, *SHARED),
)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    endpoint = path_of(str(journey.context.get("idp_token_endpoint") or ""))
    asked = [one for one in trace.calls if one.request.connection == ROOM and path_in(one) == endpoint]
    yield from walked(trace, [*_exchanged(journey, asked), *_borne(journey, asked)], wanted=OWED)


def _exchanged(journey: Journey, asked: list[Call]) -> Iterator[Observation]:
    wanted = {
        "grant_type": TOKEN_EXCHANGE,
        "requested_token_type": ID_JAG,
        "subject_token": journey.context.get("idp_id_token"),
        "subject_token_type": ID_TOKEN,
        "audience": next((spot.issuer for spot in journey.spots), None),
        "resource": next((spot.resource for spot in journey.spots), None),
    }
    for call in asked:
        said = form_of(call)
        wrong = [f"{key} {said.get(key)!r}" for key, value in wanted.items() if said.get(key) != value]
        if call.status != 200:
            wrong.append(f"refused: {content(call).get('error_description', call.status)}")
        expected = "the ID token, for a grant at the authorization server and for the resource"
        yield observe(EXCHANGED, not wrong, call, expected=expected, observed=", ".join(wrong))


def _borne(journey: Journey, asked: list[Call]) -> Iterator[Observation]:
    grants = [told for call in asked if (told := content(call).get("access_token"))]
    for stop in journey.exchanges:
        wrong = list(_wrong(journey, stop, grants))
        expected = "the grant of the identity provider, and the client's credentials by Basic"
        yield observe(BORNE, not wrong, stop, expected=expected, observed=", ".join(wrong))


def _wrong(journey: Journey, stop: Stop, grants: list[object]) -> Iterator[str]:
    if stop.said.get("grant_type") != JWT_BEARER:
        yield f"grant_type {stop.said.get('grant_type')!r}"
    if stop.said.get("assertion") not in grants:
        yield "an assertion that the identity provider did not give out"
    if credentials(stop) != tuple(journey.context.get(key) for key in ("client_id", "client_secret")):
        yield "other credentials"
    if stop.call.status != 200:
        yield f"refused: {stop.told.get('error_description', stop.call.status)}"
