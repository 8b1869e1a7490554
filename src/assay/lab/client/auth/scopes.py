"""Which scopes a client asks for, and when it asks for more."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Final

from assay.lab.client.declaration import official_scenario
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Request, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import behaviour, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.challenge import Challenge
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import AUTHORIZE, altered
from .flow import Journey, Stop, before, content
from .official_step import AUTHORIZATION, SHARED, walked
from .protected_server import BY_CODE, FOUND, IN_VAIN, LIST_AND_CALL, Protection, Refusal, Visitor, protect

# --- what is asked


@official_scenario(
    "auth/scope-from-scopes-supported",
    "The metadata names scopes",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=FOUND,
    aliases=("auth/scope-handling",),
)
async def drive_scope_from_scopes_supported(stage: ClientStage) -> None:
    await protect(stage, Protection(scopes=("mcp:basic", "mcp:read", "mcp:write")))


@official_scenario(
    "auth/scope-from-www-authenticate",
    "The challenge names a scope",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=FOUND,
    aliases=("auth/scope-handling",),
)
async def drive_scope_from_www_authenticate(stage: ClientStage) -> None:
    await protect(stage, Protection(scope="mcp:basic"))


@official_scenario(
    "auth/scope-omitted-when-undefined",
    "Nobody names a scope",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=FOUND,
    aliases=("auth/scope-handling",),
)
async def drive_scope_omitted_when_undefined(stage: ClientStage) -> None:
    await protect(stage)


SCOPE: Final = "mcp:admin"
PATIENCE: Final = 3
"""Requests with a token that are refused in the same words; who comes again is told that it is over."""


@official_scenario(
    "auth/scope-retry-limit",
    "A scope that is never enough",
    script=IN_VAIN,
    exercises=BY_CODE,
    window=FOUND,
    aliases=("auth/scope-handling",),
)
async def drive_scope_retry_limit(stage: ClientStage) -> None:
    protected = await protect(stage, Protection(scope=SCOPE, scopes=(SCOPE,), opens=True))
    refused = count(1)

    def guard(visitor: Visitor) -> Refusal | None:
        if visitor.opens:
            return None
        if visitor.claims is None:
            return protected.unknown()
        return protected.insufficient(SCOPE) if next(refused) <= PATIENCE else Refusal(410)

    protected.guard = guard


@official_scenario(
    "auth/scope-step-up",
    "Another scope is needed for a call",
    script=LIST_AND_CALL,
    exercises=BY_CODE,
    window=FOUND,
    aliases=("auth/scope-handling",),
)
async def drive_scope_step_up(stage: ClientStage) -> None:
    await protect(
        stage,
        Protection(scope="mcp:basic", scopes=("mcp:profile",), needs={"tools/call": "mcp:write"}, opens=True),
    )


# --- how it is judged


ROW = "scope-from-scopes-supported"
WANTED = "the scopes mcp:basic, mcp:read and mcp:write, as the metadata says"


@official_check(
    "auth/scope-from-scopes-supported",
    "All scopes of the metadata are asked for",
    requirements=(ROW, *SHARED),
)
def judge_scope_from_scopes_supported(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, _asked(Journey(trace)), owed=(AUTHORIZATION,), wanted={ROW: WANTED})


def _asked(journey: Journey) -> Iterator[Observation]:
    for stop in journey.authorizations:
        holds = {"mcp:basic", "mcp:read", "mcp:write"} <= {*stop.scopes}
        yield observe(ROW, holds, stop, expected=WANTED, observed=f"scope {stop.said.get('scope')!r}")


SCOPE_FROM_WWW_AUTHENTICATE_ROW = "scope-from-www-authenticate"
SCOPE_FROM_WWW_AUTHENTICATE_WANTED = "a scope with mcp:basic, as the challenge says"


@official_check(
    "auth/scope-from-www-authenticate",
    "The scope of the challenge is asked for",
    requirements=(SCOPE_FROM_WWW_AUTHENTICATE_ROW, *SHARED),
)
def judge_scope_from_www_authenticate(trace: Trace) -> Iterator[Observation]:
    yield from walked(
        trace,
        _scope_from_www_authenticate_asked(Journey(trace)),
        owed=(AUTHORIZATION,),
        wanted={SCOPE_FROM_WWW_AUTHENTICATE_ROW: SCOPE_FROM_WWW_AUTHENTICATE_WANTED},
    )


def _scope_from_www_authenticate_asked(journey: Journey) -> Iterator[Observation]:
    for stop in journey.authorizations:
        holds = "mcp:basic" in stop.scopes
        yield observe(
            SCOPE_FROM_WWW_AUTHENTICATE_ROW,
            holds,
            stop,
            expected=SCOPE_FROM_WWW_AUTHENTICATE_WANTED,
            observed=f"scope {stop.said.get('scope')!r}",
        )


SCOPE_OMITTED_WHEN_UNDEFINED_ROW = "scope-omitted-when-undefined"
SCOPE_OMITTED_WHEN_UNDEFINED_WANTED = "no scope"


@official_check(
    "auth/scope-omitted-when-undefined",
    "No scope is asked for where nobody names one",
    requirements=(SCOPE_OMITTED_WHEN_UNDEFINED_ROW, *SHARED),
)
def judge_scope_omitted_when_undefined(trace: Trace) -> Iterator[Observation]:
    yield from walked(
        trace,
        _scope_omitted_when_undefined_asked(Journey(trace)),
        owed=(AUTHORIZATION,),
        wanted={SCOPE_OMITTED_WHEN_UNDEFINED_ROW: SCOPE_OMITTED_WHEN_UNDEFINED_WANTED},
    )


def _scope_omitted_when_undefined_asked(journey: Journey) -> Iterator[Observation]:
    for stop in journey.authorizations:
        holds = not stop.scopes
        yield observe(
            SCOPE_OMITTED_WHEN_UNDEFINED_ROW,
            holds,
            stop,
            expected=SCOPE_OMITTED_WHEN_UNDEFINED_WANTED,
            observed=f"scope {stop.said.get('scope')!r}",
        )


SCOPE_RETRY_LIMIT_ROW = "scope-retry-limit"
MOST: Final = 3


@official_check(
    "auth/scope-retry-limit", "The client gives up", requirements=(SCOPE_RETRY_LIMIT_ROW, *SHARED)
)
def judge_scope_retry_limit(trace: Trace) -> Iterator[Observation]:
    wanted = f"authorization requests, {MOST} at most"
    yield from walked(trace, _counted(Journey(trace), wanted), wanted={SCOPE_RETRY_LIMIT_ROW: wanted})


def _counted(journey: Journey, wanted: str) -> Iterator[Observation]:
    made = journey.authorizations
    if made:
        yield observe(
            SCOPE_RETRY_LIMIT_ROW, len(made) <= MOST, *made, expected=wanted, observed=f"{len(made)} of them"
        )


FIRST, NEXT = "scope-step-up-initial", "scope-step-up-escalation"
UNION = "sep-2350-scope-union-on-reauth"
BASIC, WRITE = "mcp:basic", "mcp:write"
OWED = {
    FIRST: f"an authorization with the scope {BASIC}",
    NEXT: f"a second authorization, with the scope {WRITE}",
    UNION: f"a second authorization, with the scopes {BASIC} and {WRITE}",
}


@official_check("auth/scope-step-up", "Another scope for a call", requirements=(FIRST, NEXT, UNION, *SHARED))
def judge_scope_step_up(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, _scope_step_up_asked(Journey(trace)), owed=(AUTHORIZATION,), wanted=OWED)


def _scope_step_up_asked(journey: Journey) -> Iterator[Observation]:
    yield from (_has(FIRST, BASIC, stop) for stop in journey.authorizations[:1])
    for call in [one for one in journey.visits if one.status == 403][:1]:
        later = [stop for stop in journey.authorizations if stop.n > call.request.n]
        for stop in later[:1]:
            yield _has(NEXT, WRITE, stop)
            yield _has(UNION, BASIC, stop)
        # Here silence is a failure, where asking for the wrong scope is a warning.
        wanted = "another request, once a call was refused"
        yield observe(AUTHORIZATION, bool(later), call, expected=wanted, observed="no other request")


def _has(row: str, scope: str, stop: Stop) -> Observation:
    return observe(
        row,
        scope in stop.scopes,
        stop,
        expected=f"a scope with {scope}",
        observed=f"scope {stop.said.get('scope')!r}",
    )


NO_RELATION, AUTHORITY, CHOICE, SCOPES_UNION, STEP_UP = "AU-16", "AU-17", "AU-18", "AU-19", "AU-74"
SPECIAL: Final = frozenset({"openid", "offline_access"})
"""What a client may ask for by itself."""


@check(
    "Scopes are those of the challenge, else of the metadata",
    requirements=(NO_RELATION, AUTHORITY, CHOICE, SCOPES_UNION, STEP_UP),
    transports=HTTP_ONLY,
)
def judge_scopes(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for stop in journey.authorizations:
        told = [one for call, one in journey.challenged if call.request.n < stop.n]
        if told:
            yield from _scopes_asked(journey, stop, told[-1])
    yield from _stepped_up(journey)


def _scopes_asked(journey: Journey, stop: Stop, challenge: Challenge) -> Iterator[Observation]:
    wanted, asked, supported = {*challenge.scopes}, {*stop.scopes}, _supported(journey, stop)
    observed = f"scope {stop.said.get('scope')!r}"
    if wanted:
        expected = f"all of {sorted(wanted)}, which the challenge names"
        yield observe(AUTHORITY, wanted <= asked, stop, expected=expected, observed=observed)
        if supported and not wanted <= supported:
            yield observe(NO_RELATION, wanted <= asked, stop, expected=expected, observed=observed)
    earlier = _earlier(journey, stop)
    right = wanted or supported
    holds = right <= asked <= right | earlier | SPECIAL
    yield observe(CHOICE, holds, stop, expected=f"the scopes {sorted(right)}", observed=observed)
    if earlier:
        expected = f"the earlier scopes {sorted(earlier)} as well"
        yield observe(SCOPES_UNION, earlier <= asked, stop, expected=expected, observed=observed)


def _supported(journey: Journey, stop: Stop) -> set[str]:
    """Scopes that the client had read of in the metadata of the resource."""
    read = [content(call) for call in before(journey.resource_documents, stop.n) if call.status == 200]
    named = read[-1].get("scopes_supported") if read else None
    return {one for one in named if isinstance(one, str)} if isinstance(named, list) else set()


def _earlier(journey: Journey, stop: Stop) -> set[str]:
    """Scopes that it had asked the same server for."""
    asked = (one for one in journey.authorizations if one.n < stop.n and one.spot == stop.spot)
    return {scope for one in asked for scope in one.scopes}


def _stepped_up(journey: Journey) -> Iterator[Observation]:
    for call, challenge in journey.challenged:
        wanted = {*challenge.scopes}
        if call.status != 403 or challenge.params.get("error") != "insufficient_scope" or not wanted:
            continue
        earlier = [one for one in journey.authorizations if one.n < call.request.n]
        if wanted <= {scope for one in earlier for scope in one.scopes}:
            continue  # asking for the same again would be no help
        later = [one for one in journey.authorizations if one.n > call.request.n]
        holds = any(wanted <= {*one.scopes} for one in later)
        expected = f"an authorization with {sorted(wanted)}, which was missing"
        observed = "none" if not later else f"scope {later[0].said.get('scope')!r}"
        yield observe(STEP_UP, holds, call, *later[:1], expected=expected, observed=observed)


RETRIES_ROW = "AU-75"


@check("Attempts to get a scope are limited", requirements=(RETRIES_ROW,), transports=HTTP_ONLY)
def judge_retries(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for call, challenge in journey.challenged:
        wanted = {*challenge.scopes}
        asked = [one for one in journey.authorizations if wanted and wanted <= {*one.scopes}]
        if call.status == 403 and asked and asked[0].n < call.request.n:
            expected = f"{MOST} authorizations at most for the scope {' '.join(challenge.scopes)}"
            yield observe(
                RETRIES_ROW, len(asked) <= MOST, *asked, expected=expected, observed=f"{len(asked)} of them"
            )
            return


# --- what the checks must catch


@on_request(
    "it asks for the first scope of the metadata alone",
    breaks="scope-from-scopes-supported",
    scenario="auth/scope-from-scopes-supported",
)
def one_supported_scope(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, scope="mcp:basic")


@on_request(
    "it asks for a scope that nobody named",
    breaks="scope-omitted-when-undefined",
    scenario="auth/scope-omitted-when-undefined",
)
def scope_of_its_own(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, scope="everything")


@on_request(
    "it asks for the same scope again when that was not enough",
    breaks="scope-step-up-escalation",
    scenario="auth/scope-step-up",
)
def same_scope_again(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, scope="mcp:basic")


@on_request("it asks for no scope at all", breaks="AU-17", scenario="auth/scope-from-www-authenticate")
def challenge_scope_lost(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, scope=None)


@on_request(
    "it asks for more than it was told to", breaks="AU-18", scenario="auth/scope-from-www-authenticate"
)
def more_scope_than_needed(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, scope="mcp:basic mcp:admin")


BEHAVIOURS: Final = (
    behaviour(
        "auth.challenge-scope-ignored",
        "it does not ask for the scope of the challenge",
        breaks="scope-from-www-authenticate",
        scenario="auth/scope-from-www-authenticate",
        honours_scope=False,
    ),
    behaviour(
        "auth.never-gives-up",
        "it asks for authorization as long as it is refused",
        breaks="scope-retry-limit",
        scenario="auth/scope-retry-limit",
        tracks_scopes=False,
        most_authorizations=9,
    ),
    behaviour(
        "auth.first-scope-ignored",
        "it asks for the scopes of the metadata instead of the first challenge's",
        breaks="scope-step-up-initial",
        scenario="auth/scope-step-up",
        honours_scope=False,
    ),
    behaviour(
        "auth.earlier-scope-dropped",
        "it drops the scope that it had when it asks for another",
        breaks="sep-2350-scope-union-on-reauth",
        scenario="auth/scope-step-up",
        keeps_scopes=False,
    ),
    behaviour(
        "auth.only-supported-scopes",
        "it asks for no scope that the metadata does not name",
        breaks="AU-16",
        scenario="auth/scope-step-up",
        trusts_supported=True,
    ),
    behaviour(
        "auth.scopes-replaced",
        "a new scope takes the place of the old one",
        breaks="AU-19",
        scenario="auth/scope-step-up",
        keeps_scopes=False,
    ),
    behaviour(
        "auth.never-steps-up",
        "it gives up where another scope is needed",
        breaks="AU-74",
        scenario="auth/scope-step-up",
        steps_up=False,
    ),
    behaviour(
        "auth.retries-without-end",
        "it does not count how often it was refused",
        breaks="AU-75",
        scenario="auth/scope-retry-limit",
        tracks_scopes=False,
        most_authorizations=9,
    ),
)
