"""More than one authorization server: credentials of one are never shown to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.declaration import client_scenario, in_force, official_scenario
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Request, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import behaviour, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.client_script import ClientScript, call_tool
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import AUTHORIZE, REGISTER, TOKEN, altered, goes_to, parameters
from .credential import client_of, given, others, registered, uses
from .flow import Journey, Stop
from .official_step import SHARED, walked
from .protected_server import BY_CODE, CODE, LIST_AND_CALL, TOOL, TWO, Protection, Refusal, Visitor, protect

# --- what is asked


@official_scenario(
    "auth/authorization-server-migration",
    "The resource moves to another authorization server",
    script=LIST_AND_CALL,
    exercises=(*BY_CODE, "auth.credentials-of-servers"),
    window=in_force("AU-48"),
)
async def drive_authorization_server_migration(stage: ClientStage) -> None:
    protected = await protect(stage, Protection(scope="mcp:basic", opens=True))
    first, second = protected.servers[0], (await protected.add_authority("second")).issuer

    def guard(visitor: Visitor) -> Refusal | None:
        if visitor.opens:
            return None
        if visitor.claims is None or visitor.claims["iss"] not in protected.servers:
            return protected.unknown()
        if visitor.claims["iss"] == first:
            protected.servers = [second]
        return None

    protected.guard = guard


SETTINGS: Final = {"grants": ("authorization_code", "refresh_token")}


@client_scenario(
    "The resource moves to another authorization server, and back",
    script=ClientScript(steps=(*TWO, call_tool(TOOL)), oauth=CODE),
    exercises=(*BY_CODE, "auth.credentials-of-servers", "auth.refresh-token"),
    transports=HTTP_ONLY,
    window=in_force("AU-47"),
)
async def drive_authorization_server_returns(stage: ClientStage) -> None:
    protected = await protect(stage, Protection(settings=SETTINGS, opens=True))
    first, second = protected.servers[0], (await protected.add_authority("second")).issuer
    moves = iter((second, first))
    spent: set[str] = set()

    def guard(visitor: Visitor) -> Refusal | None:
        if visitor.opens:
            return None
        claims = visitor.claims
        if claims is None or claims["iss"] not in protected.servers or visitor.token in spent:
            return protected.unknown()
        following = next(moves, None)
        if following is not None:
            spent.add(visitor.token)
            protected.servers = [following]
        return None

    protected.guard = guard


# --- how it is judged


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
    requirements=(ANEW, REUSED, ACROSS, *SHARED),
)
def judge_authorization_server_migration(trace: Trace) -> Iterator[Observation]:
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


TOKENS, KEYED, CREDENTIALS_OF_SERVERS_REUSED, CREDENTIALS_OF_SERVERS_ANEW = "AU-27", "AU-47", "AU-48", "AU-49"
PORTABLE: Final = "https://"
"""How client ids begin that are the address of a document: these are good at every authorization server."""
NEVER: Final = -1


@check(
    "What an authorization server gave out is for that one",
    requirements=(TOKENS, KEYED, CREDENTIALS_OF_SERVERS_REUSED, CREDENTIALS_OF_SERVERS_ANEW),
)
def judge_credentials_of_servers(trace: Trace) -> Iterator[Observation]:
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
        yield observe(
            CREDENTIALS_OF_SERVERS_REUSED,
            name not in foreign,
            stop,
            expected=expected,
            observed=f"{observed} of another",
        )
    if _returned(journey, stop):
        yield observe(KEYED, name in own, stop, expected=expected, observed=observed)
    else:
        before = [one for one in journey.registrations if one.spot.room == room and one.n < stop.n]
        wanted = "a registration at the new authorization server before it is asked for anything"
        yield observe(
            CREDENTIALS_OF_SERVERS_ANEW,
            bool(before),
            *before[-1:],
            stop,
            expected=wanted,
            observed=f"none, and {observed}",
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


# --- what the checks must catch


@on_request(
    "it shows the token of one authorization server to another",
    breaks="sep-2352-no-cross-as-credential-reuse",
    scenario="auth/authorization-server-migration",
)
def former_token_at_new_server(request: Request, client: ScriptedClient) -> Request | None:
    token = client.oauth.token
    if goes_to(request, REGISTER) and token:
        request.set("Authorization", f"Bearer {token}")
    return request


@on_request(
    "it registers anew, and goes on under its former id",
    breaks="sep-2352-no-reuse-on-as-change",
    scenario="auth/authorization-server-migration",
)
def former_id_at_new_server(request: Request, client: ScriptedClient) -> Request | None:
    identities = [*client.oauth.identities.values()]
    if len(identities) > 1:
        request = altered(request, AUTHORIZE, client_id=identities[0].id)
    return request


@on_request(
    "it tries the refresh token of one authorization server at another",
    breaks="AU-27",
    scenario="auth.authorization-server-returns",
)
def one_refresh_token_for_all(request: Request, client: ScriptedClient) -> Request | None:
    kept = [*client.oauth.refreshes.values()]
    if kept and parameters(request).get("grant_type") == "authorization_code":
        return altered(request, TOKEN, grant_type="refresh_token", refresh_token=kept[0])
    return request


@on_request(
    "it keeps its newest id alone, and comes back under that",
    breaks="AU-47",
    scenario="auth.authorization-server-returns",
)
def newest_id_everywhere(request: Request, client: ScriptedClient) -> Request | None:
    identities = [*client.oauth.identities.values()]
    return altered(request, TOKEN, client_id=identities[-1].id) if identities else request


@on_request(
    "it shows one authorization server the id that another gave it",
    breaks="AU-48",
    scenario="auth/authorization-server-migration",
)
def id_of_another_server(request: Request, client: ScriptedClient) -> Request | None:
    identities = [*client.oauth.identities.values()]
    if len(identities) > 1:
        request = altered(request, TOKEN, client_id=identities[0].id)
    return request


BEHAVIOURS: Final = (
    behaviour(
        "auth.one-registration-for-all",
        "it registers with the first authorization server alone",
        breaks="sep-2352-reregister-on-as-change",
        scenario="auth/authorization-server-migration",
        separates_issuers=False,
    ),
    behaviour(
        "auth.registers-once",
        "it comes to another authorization server without registering there",
        breaks="AU-49",
        scenario="auth/authorization-server-migration",
        separates_issuers=False,
    ),
)
