"""Protected resource metadata, and the challenge that points to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from assay.lab.harness import (
    FaultContext,
    Observation,
    Request,
    Response,
    Stage,
    Trace,
    check,
    observe,
    on_call,
    on_response,
    scenario,
)
from assay.lab.harness.driver.stage import open_admitted, send_opening, try_open
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.need import PROTECTED, TOKENS_IN_CAPITALS
from assay.lab.harness.sabotage.saboteur import WITH_TOKENS, Saboteur, newest_of_each_kind
from assay.lab.harness.subject.bearer import CAPITALS, NONE
from assay.lab.harness.trace.authorization import (
    HEADER,
    METADATA,
    Document,
    bearer_challenge,
    calls_with,
    candidate_paths,
    describes_endpoint,
    documents,
    is_admitted,
    is_opening,
    outcome_text,
    path_on,
)
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import GUARDED, HTTP_ONLY
from assay.lab.suite.protected_fault import (
    claims,
    drop_from_challenge,
    is_metadata_request,
    set_challenge_scope,
)

# --- what is asked


@scenario(
    "Fetch the metadata that the challenge points to",
    exercises=("authorization.metadata", "authorization.challenge", "authorization.offline-access"),
    needs=(PROTECTED,),
    transports=HTTP_ONLY,
)
async def drive_metadata(stage: Stage) -> None:
    await open_admitted(stage)
    peer = await stage.connect(NONE)
    challenge = bearer_challenge((await send_opening(stage, peer)).head)
    url = None if challenge is None else challenge.params.get(METADATA)
    address = peer.http.address
    for place in candidate_paths(address.target, address.authority, url):
        sent = await peer.http.call("GET", headers={"Accept": JSON}, target=place)
        await sent.settled(peer.patience)


@scenario(
    "Open with a token whose audience is in capitals",
    needs=(PROTECTED, TOKENS_IN_CAPITALS),
    transports=GUARDED,
)
async def drive_capitals(stage: Stage) -> None:
    await open_admitted(stage)
    await try_open(stage, CAPITALS)


# --- how it is judged


@check(
    "The server publishes its resource metadata",
    requirements=("AU-07", "AU-08", "AU-10"),
    transports=HTTP_ONLY,
)
def judge_metadata(trace: Trace) -> Iterator[Observation]:
    fetched = list(documents(trace))
    refused = [call for _, call in calls_with(trace, NONE) if is_opening(call) and call.status == 401]
    if not fetched:
        return
    calls = [document.call for document in fetched]
    own = [document for document in fetched if describes_endpoint(document, trace)]
    if own or not any(_is_elsewhere(call) for call in refused):
        expected = "a document with this server as `resource`"
        yield observe("AU-07", bool(own), *calls, expected=expected, observed="; ".join(map(str, fetched)))
    yield from map(_judge_issuers, own)
    if refused:
        yield observe(
            "AU-10",
            bool(own) or any(map(_metadata_url, refused)),
            *refused,
            *calls,
            expected=f"{METADATA} in the challenge, or metadata at a well-known URI",
            observed="neither",
        )


def _judge_issuers(document: Document) -> Observation:
    issuers = document.content.get("authorization_servers")
    valid = isinstance(issuers, list) and bool(issuers) and all(isinstance(url, str) for url in issuers)
    return observe("AU-08", valid, document.call, expected="one or more issuers", observed=f"{issuers!r}")


def _is_elsewhere(call: Call) -> bool:
    """Whether the metadata is on another host, to which the driver sends no requests."""
    url = _metadata_url(call)
    return url is not None and not path_on(call.sent.get("host") or "", url)


def _metadata_url(call: Call) -> str | None:
    challenge = bearer_challenge(call.head)
    return None if challenge is None else challenge.params.get(METADATA)


@check("A request without a token gets a challenge", requirements=("AU-09", "AU-14"), transports=GUARDED)
def judge_challenge(trace: Trace) -> Iterator[Observation]:
    # A server that supports no scopes cannot name any.
    has_scopes = any(document.content.get("scopes_supported") for document in documents(trace))
    for _, call in calls_with(trace, NONE):
        if not is_opening(call) or call.status != 401 or call.head is None:
            continue
        challenge = bearer_challenge(call.head)
        observed = ", ".join(call.head.all(HEADER)) or "no challenge"
        has_url = (_metadata_url(call) or "").startswith(("https://", "http://"))
        scopes = [] if challenge is None else challenge.scopes
        yield observe("AU-09", has_url, call, expected=f"Bearer with {METADATA}", observed=observed)
        if scopes or has_scopes:
            yield observe("AU-14", bool(scopes), call, expected="Bearer with a scope", observed=observed)


@check(
    "An audience with scheme and host in capitals is accepted", requirements=("AU-60",), transports=GUARDED
)
def judge_capitals(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, CAPITALS):
        yield observe(
            "AU-60", is_admitted(call), call, expected="a successful response", observed=outcome_text(call)
        )


SCOPE: Final = "offline_access"
EXPECTED: Final = f"scopes without {SCOPE}"


@check("Servers do not ask for offline access", requirements=("AU-77",), transports=HTTP_ONLY)
def judge_offline_access(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        challenge = bearer_challenge(call.head)
        if challenge is not None and challenge.scopes:
            scopes = challenge.scopes
            yield observe("AU-77", SCOPE not in scopes, call, expected=EXPECTED, observed=" ".join(scopes))
    for document in documents(trace):
        supported = document.content.get("scopes_supported")
        if isinstance(supported, list):
            holds = SCOPE not in supported
            yield observe("AU-77", holds, document.call, expected=EXPECTED, observed=f"{supported!r}")


# --- what the checks must catch


RESOURCE: Final = "http://localhost/mcp"
ISSUERS: Final = ["https://a.example"]


def _publishes(name: str, fault: str, breaks: str, document: dict[str, Any], **options: Any) -> Saboteur:
    def change(response: Response, context: FaultContext) -> None:
        if is_metadata_request(context) and response.status == 200:
            response.body = msgspec.json.encode(document)

    saboteur: Saboteur = on_response(fault, id=name, breaks=breaks, server=WITH_TOKENS, **options)(change)
    return saboteur


DOCUMENTS: Final = (
    _publishes(
        "authorization.metadata-of-another",
        "publishes metadata of another resource",
        "AU-07",
        {"resource": "https://elsewhere.example/mcp", "authorization_servers": ISSUERS},
        window=newest_of_each_kind,
    ),
    _publishes(
        "authorization.no-issuers",
        "publishes metadata without an authorization server",
        "AU-08",
        {"resource": RESOURCE, "authorization_servers": []},
    ),
    _publishes(
        "authorization.offline-metadata",
        "names `offline_access` in the metadata",
        "AU-77",
        {"resource": RESOURCE, "authorization_servers": ISSUERS, "scopes_supported": ["mcp", SCOPE]},
    ),
)


@on_call("publishes no metadata", breaks="AU-07", server=WITH_TOKENS)
def no_metadata(request: Request, context: FaultContext) -> Response | None:
    return Response([], 404) if is_metadata_request(context) else None


@on_response(
    "answers requests for metadata with an HTML page",
    breaks="AU-07",
    server=WITH_TOKENS,
    window=newest_of_each_kind,
)
def status_200_for_metadata(response: Response, context: FaultContext) -> None:
    if is_metadata_request(context):
        response.set("Content-Type", "text/html")
        response.body = b"<p>Welcome</p>"


@on_response("neither publishes metadata nor names its URL", breaks="AU-10", server=WITH_TOKENS)
def hidden_metadata(response: Response, context: FaultContext) -> None:
    drop_from_challenge(response, "resource_metadata")
    if is_metadata_request(context):
        response.status, response.body = 404, b""


@on_response("sends a challenge without the URL of the metadata", breaks="AU-09", server=WITH_TOKENS)
def challenge_without_metadata(response: Response, context: FaultContext) -> None:
    drop_from_challenge(response, "resource_metadata")


@on_response("sends 401 without a challenge", breaks="AU-09", server=WITH_TOKENS)
def no_challenge(response: Response, context: FaultContext) -> None:
    if response.status == 401:
        response.set("WWW-Authenticate", None)


@on_response("sends a challenge without a scope", breaks="AU-14", server=WITH_TOKENS)
def challenge_without_scope(response: Response, context: FaultContext) -> None:
    drop_from_challenge(response, "scope")


@on_call("refuses an audience in capitals", breaks="AU-60", server=WITH_TOKENS)
def capitals_are_others(request: Request, context: FaultContext) -> Response | None:
    return Response([], 401) if str(claims(request).get("aud", "")).startswith("HTTP:") else None


@on_response("names `offline_access` in the challenge", breaks="AU-77", server=WITH_TOKENS)
def offline_challenge(response: Response, context: FaultContext) -> None:
    if response.status == 401:
        set_challenge_scope(response, f"mcp {SCOPE}")
