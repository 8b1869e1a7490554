"""The authorization code flow: PKCE and `state`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.declaration import client_scenario
from assay.lab.harness import Observation, Request, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import behaviour, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import AUTHORIZE, TOKEN, altered
from .flow import Journey, Stop
from .official_step import asked_for, challenge_of
from .protected_server import FOUND, IN_VAIN, OAUTH, RESOURCES, Protection, protect

# --- what is asked


@client_scenario(
    "A server without PKCE",
    script=IN_VAIN,
    exercises=("auth.proof-key-offered",),
    transports=HTTP_ONLY,
    window=FOUND,
)
async def drive_without_pkce(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("metadata-without-pkce", *OAUTH)))


@client_scenario(
    "Another `state` comes back",
    script=IN_VAIN,
    exercises=("auth.state",),
    transports=HTTP_ONLY,
    window=RESOURCES,
)
async def drive_other_state(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("wrong-state", *OAUTH)))


# --- how it is judged


USED, METHOD = "AU-82", "AU-84"


@check("PKCE is used, with S256", requirements=(USED, METHOD), transports=HTTP_ONLY)
def judge_proof_key(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for stop in journey.authorizations:
        challenge, method = (stop.said.get(f"code_challenge{more}") for more in ("", "_method"))
        yield observe(USED, bool(challenge), stop, expected="a code_challenge", observed="none")
        if challenge:
            yield observe(METHOD, method == "S256", stop, expected="the method S256", observed=repr(method))
    for stop in journey.exchanges:
        asked = asked_for(journey, stop)
        if stop.said.get("grant_type") != "authorization_code" or asked is None:
            continue
        verifier = str(stop.said.get("code_verifier") or "")
        fits = bool(verifier) and challenge_of(verifier) == asked.said.get("code_challenge")
        plain = bool(verifier) and verifier == asked.said.get("code_challenge")  # that is METHOD's
        expected = "a code_verifier that fits the code_challenge"
        observed = "another verifier" if verifier else "no verifier"
        yield observe(USED, fits or plain, asked, stop, expected=expected, observed=observed)


ROW = "AU-83"
MEMBER = "code_challenge_methods_supported"


@check("A server without PKCE is refused", requirements=(ROW,), transports=HTTP_ONLY)
def judge_proof_key_offered(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for spot in journey.spots:
        metadata = journey.metadata_of(spot)
        if metadata and MEMBER not in metadata:
            made = [stop for stop in journey.authorizations if stop.spot == spot]
            evidence = made or journey.documents_of(spot)
            expected = f"no authorization request, since the metadata has no {MEMBER}"
            yield observe(ROW, not made, *evidence, expected=expected, observed=f"{len(made)} requests")


STATE_ROW = "AU-88"


@check("`state` is used and verified", requirements=(STATE_ROW,), transports=HTTP_ONLY)
def judge_state(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for stop in journey.authorizations:
        sent = stop.said.get("state")
        yield observe(STATE_ROW, bool(sent), stop, expected="a `state`", observed="none")
        told = stop.answered
        if sent and "code" in told and told.get("state") != sent:
            yield _refused(journey, stop, told["code"])


def _refused(journey: Journey, stop: Stop, code: str) -> Observation:
    used = [one for one in journey.exchanges if one.said.get("code") == code]
    expected = "no token request with a code that came with another `state`"
    return observe(STATE_ROW, not used, stop, *used, expected=expected, observed="the code was used")


# --- what the checks must catch


@on_request("it knows nothing of PKCE", breaks="AU-82", scenario="auth/metadata-default")
def no_proof_key(request: Request, client: ScriptedClient) -> Request | None:
    without = altered(request, AUTHORIZE, code_challenge=None, code_challenge_method=None)
    return altered(without, TOKEN, code_verifier=None)


@on_request("it uses the method plain", breaks="AU-84", scenario="auth/metadata-default")
def plain_proof_key(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, code_challenge_method="plain")


@on_request("it sends no state", breaks="AU-88", scenario="auth/metadata-default")
def no_state(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, state=None)


@on_request(
    "the authorization request has no code challenge",
    breaks="pkce-code-challenge-sent",
    scenario="auth/metadata-default",
)
def no_challenge(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, code_challenge=None)


@on_request(
    "the token request has no code verifier",
    breaks="pkce-code-verifier-sent",
    scenario="auth/metadata-default",
)
def no_verifier(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, code_verifier=None)


@on_request(
    "the code challenge is said to be the verifier itself",
    breaks="pkce-s256-method-used",
    scenario="auth/metadata-default",
)
def plain_challenge(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, code_challenge_method="plain")


@on_request(
    "the code verifier is of another challenge",
    breaks="pkce-verifier-matches-challenge",
    scenario="auth/metadata-default",
)
def other_verifier(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, code_verifier="v" * 64)


BEHAVIOURS: Final = (
    behaviour(
        "auth.proof-key-unasked",
        "it does not mind that a server knows no PKCE",
        breaks="AU-83",
        scenario="auth.without-pkce",
        needs_pkce=False,
    ),
    behaviour(
        "auth.any-state",
        "it takes an answer with another state",
        breaks="AU-88",
        scenario="auth.other-state",
        checks_state=False,
    ),
    behaviour(
        "auth.never-authorizes",
        "it reads no further than the challenge",
        breaks="authorization-request",
        scenario="auth/metadata-default",
        most_authorizations=0,
    ),
)
