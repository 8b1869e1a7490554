"""Protected resource metadata, and the challenge that points to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

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
from assay.lab.harness.driver.try_open import ask, come_in, try_open
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.need import PROTECTED, TOKENS_IN_CAPITALS
from assay.lab.harness.sabotage.saboteur import WITH_TOKENS, newest_of_each_kind
from assay.lab.harness.subject.bearer import CAPITALS, NONE
from assay.lab.harness.trace.admission import calls_with, is_let_in, is_opening, told
from assay.lab.harness.trace.challenge import HEADER, METADATA, bearer_challenge
from assay.lab.harness.trace.resource_metadata import Document, documents, is_of, path_on, places
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import GUARDED, HTTP_ONLY
from assay.lab.suite.protected_fault import claims, drop_from_challenge, is_document

# --- what is asked


@scenario(
    "From the challenge to the metadata",
    exercises=("authorization.metadata", "authorization.challenge", "authorization.offline-access"),
    needs=(PROTECTED,),
    transports=HTTP_ONLY,
)
async def drive_metadata(stage: Stage) -> None:
    await come_in(stage)
    nobody = await stage.connect(NONE)
    challenge = bearer_challenge((await ask(stage, nobody)).head)
    told = None if challenge is None else challenge.params.get(METADATA)
    address = nobody.http.address
    for place in places(address.target, address.authority, told):
        sent = await nobody.http.call("GET", headers={"Accept": JSON}, target=place)
        await sent.settled(nobody.patience)


@scenario(
    "An audience in capitals",
    exercises=("authorization.capitals",),
    needs=(PROTECTED, TOKENS_IN_CAPITALS),
    transports=GUARDED,
)
async def drive_capitals(stage: Stage) -> None:
    await come_in(stage)
    await try_open(stage, CAPITALS)


# --- how it is judged


@check(
    "The metadata of the resource is served", requirements=("AU-07", "AU-08", "AU-10"), transports=HTTP_ONLY
)
def judge_metadata(trace: Trace) -> Iterator[Observation]:
    found = list(documents(trace))
    refused = [call for _, call in calls_with(trace, NONE) if is_opening(call) and call.status == 401]
    if not found:
        return
    calls = [one.call for one in found]
    own = [one for one in found if is_of(one, trace)]
    if own or not any(_leads_elsewhere(call) for call in refused):
        yield observe(
            "AU-07",
            bool(own),
            *calls,
            expected="at one address, metadata whose `resource` is this server",
            observed="; ".join(map(str, found)),
        )
    yield from map(_issuers, own)
    if refused:
        yield _discoverable(refused, own, calls)


def _issuers(one: Document) -> Observation:
    named = one.content.get("authorization_servers")
    good = isinstance(named, list) and bool(named) and all(isinstance(each, str) for each in named)
    return observe("AU-08", good, one.call, expected="one or more issuers", observed=f"{named!r}")


def _discoverable(refused: list[Call], own: list[Document], calls: list[Call]) -> Observation:
    told = [call for call in refused if _place(call)]
    return observe(
        "AU-10",
        bool(told or own),
        *refused,
        *calls,
        expected=f"{METADATA} in the challenge, or metadata at a well-known address",
        observed="neither",
    )


def _leads_elsewhere(call: Call) -> bool:
    """Whether the metadata is on another machine, which is not asked here."""
    place = _place(call)
    return place is not None and not path_on(call.sent.get("host") or "", place)


def _place(call: Call) -> str | None:
    challenge = bearer_challenge(call.head)
    return None if challenge is None else challenge.params.get(METADATA)


@check("A refusal is a challenge", requirements=("AU-09", "AU-14"), transports=GUARDED)
def judge_challenge(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, NONE):
        if not is_opening(call) or call.status != 401 or call.head is None:
            continue
        challenge = bearer_challenge(call.head)
        seen = ", ".join(call.head.all(HEADER)) or "no challenge"
        place = "" if challenge is None else challenge.params.get(METADATA, "")
        scopes = [] if challenge is None else challenge.scopes
        named = place.startswith(("https://", "http://"))
        yield observe("AU-09", named, call, expected=f"Bearer with the URL as {METADATA}", observed=seen)
        if scopes or _has_scopes(trace):
            yield observe("AU-14", bool(scopes), call, expected="Bearer with a scope", observed=seen)


def _has_scopes(trace: Trace) -> bool:
    """Whether there are any: who has none cannot name one."""
    return any(one.content.get("scopes_supported") for one in documents(trace))


@check("An audience with scheme and host in capitals is taken", requirements=("AU-60",), transports=GUARDED)
def judge_capitals(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, CAPITALS):
        yield observe("AU-60", is_let_in(call), call, expected="to be let in", observed=told(call))


SCOPE: Final = "offline_access"
EXPECTED: Final = f"scopes without {SCOPE}"


@check("No server asks for offline access", requirements=("AU-77",), transports=HTTP_ONLY)
def judge_offline_access(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        challenge = bearer_challenge(call.head)
        if challenge is not None and challenge.scopes:
            asked = challenge.scopes
            yield observe("AU-77", SCOPE not in asked, call, expected=EXPECTED, observed=" ".join(asked))
    for one in documents(trace):
        named = one.content.get("scopes_supported")
        if isinstance(named, list):
            yield observe("AU-77", SCOPE not in named, one.call, expected=EXPECTED, observed=f"{named!r}")


# --- what the checks must catch


@on_response(
    "the metadata names another resource", breaks="AU-07", server=WITH_TOKENS, window=newest_of_each_kind
)
def metadata_of_another(response: Response, context: FaultContext) -> None:
    if is_document(context) and response.status == 200:
        response.body = (
            b'{"resource": "https://elsewhere.example/mcp", "authorization_servers": ["https://a.example"]}'
        )


@on_call("no metadata of the resource is served", breaks="AU-07", server=WITH_TOKENS)
def no_metadata(request: Request, context: FaultContext) -> Response | None:
    return Response([], 404) if is_document(context) else None


@on_response("the metadata is a page", breaks="AU-07", server=WITH_TOKENS, window=newest_of_each_kind)
def status_200_for_metadata(response: Response, context: FaultContext) -> None:
    if is_document(context):
        response.set("Content-Type", "text/html")
        response.body = b"<p>Welcome</p>"


@on_response("the metadata names no authorization server", breaks="AU-08", server=WITH_TOKENS)
def no_issuers(response: Response, context: FaultContext) -> None:
    if is_document(context) and response.status == 200:
        response.body = b'{"resource": "http://localhost/mcp", "authorization_servers": []}'


@on_response("the metadata cannot be found", breaks="AU-10", server=WITH_TOKENS)
def hidden_metadata(response: Response, context: FaultContext) -> None:
    drop_from_challenge(response, "resource_metadata")
    if is_document(context):
        response.status, response.body = 404, b""


@on_response("the challenge names no metadata", breaks="AU-09", server=WITH_TOKENS)
def challenge_without_metadata(response: Response, context: FaultContext) -> None:
    drop_from_challenge(response, "resource_metadata")


@on_response("401 comes without a challenge", breaks="AU-09", server=WITH_TOKENS)
def no_challenge(response: Response, context: FaultContext) -> None:
    if response.status == 401:
        response.set("WWW-Authenticate", None)


@on_response("the challenge names no scope", breaks="AU-14", server=WITH_TOKENS)
def challenge_without_scope(response: Response, context: FaultContext) -> None:
    drop_from_challenge(response, "scope")


@on_call("an audience in capitals is taken for another", breaks="AU-60", server=WITH_TOKENS)
def capitals_are_others(request: Request, context: FaultContext) -> Response | None:
    if str(claims(request).get("aud", "")).startswith("HTTP:"):
        return Response([], 401)
    return None


@on_response("the challenge names offline_access", breaks="AU-77", server=WITH_TOKENS)
def offline_challenge(response: Response, context: FaultContext) -> None:
    if response.status == 401:
        drop_from_challenge(response, "scope")
        response.set("WWW-Authenticate", f'{response.header("www-authenticate")}, scope="mcp offline_access"')


@on_response("the metadata names offline_access", breaks="AU-77", server=WITH_TOKENS)
def offline_metadata(response: Response, context: FaultContext) -> None:
    if is_document(context) and response.status == 200:
        response.body = (
            b'{"resource": "http://localhost/mcp", "authorization_servers": ["https://a.example"],'
            b' "scopes_supported": ["mcp", "offline_access"]}'
        )
