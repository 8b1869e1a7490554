"""The authorization code flow: PKCE and `state`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.declaration import client_scenario
from assay.lab.harness import Observation, Request, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import AUTHORIZE, DEFAULT, TOKEN, altered, alters, behaves
from .flow import Flow
from .official_step import AUTHORIZATION, CHALLENGE, MATCH, METHOD, VERIFIER, authorization_of, challenge_of
from .protected_server import MAY_FAIL, OAUTH_ONLY, WITH_DISCOVERY, WITH_RESOURCES, Protection, protect

# --- what is asked


@client_scenario(
    "Offer an authorization server without PKCE",
    script=MAY_FAIL,
    exercises=("auth.proof-key-offered",),
    transports=HTTP_ONLY,
    window=WITH_DISCOVERY,
)
async def drive_without_pkce(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("metadata-without-pkce", *OAUTH_ONLY)))


@client_scenario(
    "Return another `state` from the authorization server",
    script=MAY_FAIL,
    exercises=("auth.state",),
    transports=HTTP_ONLY,
    window=WITH_RESOURCES,
)
async def drive_other_state(stage: ClientStage) -> None:
    await protect(stage, Protection(faults=("wrong-state", *OAUTH_ONLY)))


# --- how it is judged


@check(
    "PKCE is used with S256",
    requirements={
        "AU-82": "The authorization code flow does not use PKCE",
        "AU-84": "PKCE does not use the method S256",
    },
    transports=HTTP_ONLY,
)
def judge_proof_key(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    for request in flow.authorizations:
        challenge, method = (request.params.get(f"code_challenge{end}") for end in ("", "_method"))
        yield observe("AU-82", bool(challenge), request, expected="a code_challenge", observed="none")
        if challenge:
            expected = "the method S256"
            yield observe("AU-84", method == "S256", request, expected=expected, observed=repr(method))
    for request in flow.token_requests:
        authorization = authorization_of(flow, request)
        if request.params.get("grant_type") != "authorization_code" or authorization is None:
            continue
        challenge = authorization.params.get("code_challenge")
        verifier = str(request.params.get("code_verifier") or "")
        # The plain method breaks AU-84 only.
        fits = bool(verifier) and challenge in (challenge_of(verifier), verifier)
        expected = "a code_verifier that matches the code_challenge"
        observed = "another verifier" if verifier else "no verifier"
        yield observe("AU-82", fits, authorization, request, expected=expected, observed=observed)


METHODS: Final = "code_challenge_methods_supported"


@check(
    "A server without PKCE is rejected",
    requirements={"AU-83": "The client used an authorization server that does not support PKCE"},
    transports=HTTP_ONLY,
)
def judge_proof_key_offered(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    for server in flow.servers:
        metadata = flow.metadata_of(server)
        if metadata and METHODS not in metadata:
            requests = [request for request in flow.authorizations if request.server == server]
            evidence = requests or flow.documents_of(server)
            expected = f"no authorization request, since the metadata has no {METHODS}"
            observed = f"{len(requests)} requests"
            yield observe("AU-83", not requests, *evidence, expected=expected, observed=observed)


@check(
    "`state` is used and verified",
    requirements={"AU-88": "`state` was not sent, or was not verified"},
    transports=HTTP_ONLY,
)
def judge_state(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    for authorization in flow.authorizations:
        state, redirect = authorization.params.get("state"), authorization.redirect
        yield observe("AU-88", bool(state), authorization, expected="a `state`", observed="none")
        if state and "code" in redirect and redirect.get("state") != state:
            used = [
                request for request in flow.token_requests if request.params.get("code") == redirect["code"]
            ]
            expected = "no token request with a code that came with another `state`"
            observed = "the code was used"
            yield observe("AU-88", not used, authorization, *used, expected=expected, observed=observed)


# --- what the checks must catch


@on_request("does not use PKCE", breaks="AU-82", scenario=DEFAULT)
def no_proof_key(request: Request, client: ScriptedClient) -> Request | None:
    without = altered(request, AUTHORIZE, code_challenge=None, code_challenge_method=None)
    return altered(without, TOKEN, code_verifier=None)


ALTERED: Final = (
    alters(AUTHORIZE, DEFAULT, "plain-proof-key", "uses plain PKCE", "AU-84", code_challenge_method="plain"),
    alters(AUTHORIZE, DEFAULT, "no-state", "sends no `state`", "AU-88", state=None),
    alters(AUTHORIZE, DEFAULT, "no-challenge", "sends no `code_challenge`", CHALLENGE, code_challenge=None),
    alters(AUTHORIZE, DEFAULT, "plain-challenge", "uses plain PKCE", METHOD, code_challenge_method="plain"),
    alters(TOKEN, DEFAULT, "no-verifier", "sends no `code_verifier`", VERIFIER, code_verifier=None),
    alters(TOKEN, DEFAULT, "other-verifier", "sends another `code_verifier`", MATCH, code_verifier="v" * 64),
)
BEHAVIOURS: Final = (
    behaves(
        "auth.without-pkce", "proof-key-unasked", "uses a server without PKCE", "AU-83", needs_pkce=False
    ),
    behaves(
        "auth.other-state", "any-state", "accepts an answer with another `state`", "AU-88", checks_state=False
    ),
    behaves(DEFAULT, "never-authorizes", "ignores the challenge", AUTHORIZATION, most_authorizations=0),
)
