"""`offline_access` and refresh tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.declaration import client_scenario, in_force, official_scenario
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Request, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import AUTHORIZE, ENDPOINT, REGISTER, altered, goes_to
from .flow import Journey, Stop
from .official_step import AUTHORIZATION, SHARED, walked
from .protected_server import BY_CODE, DESCRIBED, LIST_AND_CALL, Protection, Refusal, Visitor, protect

# --- what is asked


SCOPES: Final = ("mcp:basic", "mcp:read")


@official_scenario(
    "auth/offline-access-not-supported",
    "The authorization server has no refresh tokens",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=in_force("sep-2207-offline-access-not-requested"),
)
async def drive_offline_access_not_supported(stage: ClientStage) -> None:
    settings = {"metadata": {"scopes_supported": [*SCOPES]}}
    await protect(stage, Protection(settings=settings, scopes=SCOPES))


@client_scenario(
    "Refresh tokens for clients that register",
    script=LIST_AND_CALL,
    exercises=("auth/offline-access-scope", *BY_CODE),
    transports=HTTP_ONLY,
    window=in_force("sep-2207-client-metadata-grant-types"),
)
async def drive_offline_access_registered(stage: ClientStage) -> None:
    settings = {"metadata": {"scopes_supported": ["mcp:basic", "offline_access"]}}
    await protect(stage, Protection(settings=settings, scopes=("mcp:basic",)))


SETTINGS: Final = {**DESCRIBED, "metadata": {"scopes_supported": ["mcp:basic", "offline_access"]}}


@official_scenario(
    "auth/offline-access-scope",
    "The authorization server has refresh tokens",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=in_force("sep-2207-offline-access-requested"),
)
async def drive_offline_access_scope(stage: ClientStage) -> None:
    await protect(stage, Protection(settings=SETTINGS, scopes=("mcp:basic",)))


REFRESH_TOKEN_SETTINGS: Final = {"grants": ("authorization_code", "refresh_token")}


@client_scenario(
    "A token that can be refreshed",
    script=LIST_AND_CALL,
    exercises=(*BY_CODE, "auth.refresh-token"),
    transports=HTTP_ONLY,
    window=in_force("AU-76"),
)
async def drive_refresh_token(stage: ClientStage) -> None:
    protected = await protect(stage, Protection(settings=REFRESH_TOKEN_SETTINGS))
    worn: list[str] = []

    def guard(visitor: Visitor) -> Refusal | None:
        """The first token is good until a tool is called."""
        if visitor.claims is None or visitor.token in worn:
            return protected.unknown()
        if visitor.method == "tools/call" and not worn:
            worn.append(visitor.token)
            return protected.unknown()
        return None

    protected.guard = guard


# --- how it is judged


ROW = "sep-2207-offline-access-not-requested"
WANTED: Final = "an authorization request without the scope offline_access"


@official_check(
    "auth/offline-access-not-supported",
    "The authorization server has no refresh tokens",
    requirements=(ROW, *SHARED),
)
def judge_offline_access_not_supported(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, _asked(Journey(trace)), wanted={ROW: WANTED})


def _asked(journey: Journey) -> Iterator[Observation]:
    for stop in journey.authorizations:
        observed = f"scope {stop.said.get('scope')!r}"
        yield observe(ROW, "offline_access" not in stop.scopes, stop, expected=WANTED, observed=observed)


GRANTS, ASKED = "sep-2207-client-metadata-grant-types", "sep-2207-offline-access-requested"
REFRESH: Final = "refresh_token"


@official_check(
    "auth/offline-access-scope",
    "The authorization server has refresh tokens",
    requirements=(GRANTS, ASKED, *SHARED),
)
def judge_offline_access_scope(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    # To ask for the scope is left to the client: who does not, shows nothing.
    owed = {} if journey.authorizations else {ASKED: "an authorization request"}
    yield from walked(trace, _seen(journey), owed=(AUTHORIZATION,), wanted=owed)


def _seen(journey: Journey) -> Iterator[Observation]:
    for stop in journey.registrations:
        named = stop.said.get("grant_types")
        holds = isinstance(named, list) and REFRESH in named
        yield observe(GRANTS, holds, stop, expected=f"grant_types with {REFRESH}", observed=f"{named}")
    for stop in journey.authorizations:
        if "offline_access" in stop.scopes:
            yield observe(ASKED, True, stop, expected="", observed="")


REFRESH_TOKEN_ROW = "AU-76"
EXPECTED: Final = (
    "the refresh token nowhere but in the body of requests to the token endpoint that gave it out"
)


@check("A refresh token is kept confidential", requirements=(REFRESH_TOKEN_ROW,))
def judge_refresh_token(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for stop in journey.exchanges:
        token = stop.told.get("refresh_token")
        if stop.call.status == 200 and isinstance(token, str) and token:
            later = [call for call in trace.calls if call.request.n > stop.n]
            shown = [call for call in later if _shows(call, token, stop)]
            if later:
                observed = "".join(f"it goes to {call.sent.target.partition('?')[0]}" for call in shown[:1])
                yield observe(
                    REFRESH_TOKEN_ROW, not shown, stop, *shown[:1], expected=EXPECTED, observed=observed
                )


def _shows(call: Call, token: str, source: Stop) -> bool:
    if token.encode() not in call.request.raw:
        return False
    head, _, _ = call.request.raw.partition(b"\r\n\r\n")
    at_home = call.request.connection == source.call.request.connection
    return not at_home or call.sent.method != "POST" or token.encode() in head


# --- what the checks must catch


@on_request(
    "it asks for offline_access wherever it is",
    breaks="sep-2207-offline-access-not-requested",
    scenario="auth/offline-access-not-supported",
)
def always_offline(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, scope="mcp:basic mcp:read offline_access")


@on_request(
    "it registers without the grant type of refresh tokens",
    breaks="sep-2207-client-metadata-grant-types",
    scenario="auth/offline-access-scope",
    behaviour={"uses_document": False},
)
def never_offline(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, REGISTER, grant_types=["authorization_code"])


@on_request(
    "it asks for no authorization where it could have refresh tokens",
    breaks="sep-2207-offline-access-requested",
    scenario="auth/offline-access-scope",
)
def gives_up_offline(request: Request, client: ScriptedClient) -> Request | None:
    return None if goes_to(request, AUTHORIZE) else request


@on_request("it shows its refresh token to the server, too", breaks="AU-76", scenario="auth.refresh-token")
def refresh_token_shown(request: Request, client: ScriptedClient) -> Request | None:
    for token in client.oauth.refreshes.values():
        if goes_to(request, ENDPOINT):
            request.set("X-Refresh-Token", token)
    return request
