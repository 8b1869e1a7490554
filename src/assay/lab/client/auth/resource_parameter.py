"""The resource that a token is for, and the use of the token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from assay.lab.client.declaration import client_scenario, in_force
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Request, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import AUTHORIZE, DEFAULT, ENDPOINT, TOKEN, altered, alters, behaves, is_to
from .flow import AuthRequest, Flow, bearer, content, is_absolute, query_of
from .official_step import SHARED, observe_steps
from .protected_server import LIST_AND_CALL, MAY_FAIL, WITH_RESOURCES, Protection, protect, protected_scenario

# --- what is asked


@client_scenario(
    "Name the resource in capitals",
    script=LIST_AND_CALL,
    exercises=("auth.capitals",),
    transports=HTTP_ONLY,
    window=WITH_RESOURCES,
)
async def drive_resource_in_capitals(stage: ClientStage) -> None:
    path = stage.url.removeprefix(stage.origin)
    await protect(stage, Protection(resource=f"{stage.origin.upper()}{path}"))


MISMATCH: Final = "resource-mismatch-rejected"
OTHER_RESOURCE: Final = protected_scenario(
    "auth/resource-mismatch",
    "Serve metadata of another resource",
    Protection(resource="https://evil.example.com/mcp"),
    script=MAY_FAIL,
    exercises=(),
    window=in_force(MISMATCH),
)

# --- how it is judged


@official_check(
    "auth/resource-mismatch",
    "Metadata of another resource is rejected",
    requirements={MISMATCH: "The client requested authorization with metadata of another resource", **SHARED},
)
def judge_resource_mismatch(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    read = [call for call in flow.resource_documents if call.status == 200 and content(call)]
    requests = [*flow.authorizations, *flow.token_requests]
    expected = "a request for the metadata, and no authorization request after it"
    observed = "an authorization request"
    own = [observe(MISMATCH, not requests, *read[:1], *requests[:1], expected=expected, observed=observed)]
    yield from observe_steps(trace, own if read or requests else (), expected={MISMATCH: expected})


@check(
    "A resource in capitals is accepted",
    requirements={"AU-60": "A resource whose scheme and host are in capitals was rejected"},
    transports=HTTP_ONLY,
)
def judge_capitals(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    for call in [call for call in flow.resource_documents if call.status == 200][:1]:
        resource = str(content(call).get("resource", ""))
        origin = resource.removesuffix("/mcp")
        if origin != origin.lower():
            requests = flow.authorizations
            expected = f"an authorization request, since {resource} is the endpoint"
            yield observe("AU-60", bool(requests), call, *requests[:1], expected=expected, observed="none")


@check(
    "`resource` names the server",
    requirements={
        "AU-56": "A request has no `resource`",
        "AU-57": "`resource` is not the URI of the server",
        "AU-58": "`resource` was omitted depending on what the server supports",
        "AU-59": "`resource` ends with a slash",
    },
    transports=HTTP_ONLY,
)
def judge_resource_parameter(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    code_grant = "authorization_code"
    by_code = [request for request in flow.token_requests if request.params.get("grant_type") == code_grant]
    for request in (*flow.authorizations, *by_code):
        resource = request.params.get("resource")
        yield observe("AU-56", bool(resource), request, expected="a `resource`", observed="none")
        # The server's metadata does not say whether it supports the parameter.
        expected = "a `resource`, whether or not the server supports it"
        yield observe("AU-58", bool(resource), request, expected=expected, observed="none")
        if resource:
            yield from _judge_resource(str(resource), request)


def _judge_resource(resource: str, request: AuthRequest) -> Iterator[Observation]:
    url = request.server.url
    expected = f"a URI of {url}, with a scheme and without a fragment"
    yield observe("AU-57", _contains(resource, url), request, expected=expected, observed=resource)
    slash = resource.endswith("/") and not request.server.resource.endswith("/")
    yield observe("AU-59", not slash, request, expected="no slash at the end", observed=resource)


def _contains(resource: str, url: str) -> bool:
    """Whether a URI is that of the endpoint, or of a path that contains it."""
    if not is_absolute(resource) or "#" in resource:
        return False
    outer, inner = urlsplit(resource), urlsplit(url)
    same = (outer.scheme.lower(), outer.netloc.lower()) == (inner.scheme, inner.netloc)
    return same and f"{inner.path}/".startswith(f"{outer.path.rstrip('/')}/")


@check(
    "The token is in the header of every request",
    requirements={
        "AU-61": "A request to the endpoint has no token",
        "AU-62": "A token was sent in the URL",
        "AU-68": "The client sent a token that the server's authorization server did not issue",
    },
    transports=HTTP_ONLY,
)
def judge_bearing(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    issued = min((request.n for request in flow.tokens.values()), default=None)
    if issued is not None:
        later = [call for call in flow.endpoint_calls if call.request.n > issued]
        yield from _judge_token_use(later, flow)
    for call in flow.endpoint_calls:
        if token := bearer(call):
            holds, expected = token in flow.tokens, "a token of this server's authorization server"
            yield observe("AU-68", holds, call, expected=expected, observed=f"{token[:12]}…")


def _judge_token_use(later: list[Call], flow: Flow) -> Iterator[Observation]:
    """Judge the requests after the first token was issued.

    A request that was already under way need not have the token, so AU-61 starts with the first one that has.
    """
    first = next((number for number, call in enumerate(later) if bearer(call)), 0)
    for call in later[first:]:
        header = call.sent.get("authorization")
        expected = "a header Authorization: Bearer, with the token"
        yield observe("AU-61", bool(bearer(call)), call, expected=expected, observed=(header or "none")[:20])
    for call in later:
        query = query_of(call)
        holds = "access_token" not in query and not any(value in flow.tokens for value in query.values())
        observed = f"parameters {sorted(query)}"
        yield observe("AU-62", holds, call, expected="no token in the URL", observed=observed)


# --- what the checks must catch


@on_request("never sends `resource`", breaks="AU-56", scenario=DEFAULT)
def no_resource(request: Request, client: ScriptedClient) -> Request | None:
    return altered(altered(request, AUTHORIZE, resource=None), TOKEN, resource=None)


@on_request("ends `resource` with a slash", breaks="AU-59", scenario=DEFAULT)
def resource_with_slash(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, resource=f"{client.setup.url}/")


@on_request("omits its token from tool calls", breaks="AU-61", scenario=DEFAULT)
def token_once(request: Request, client: ScriptedClient) -> Request | None:
    if is_to(request, ENDPOINT) and b'"tools/call"' in request.body:
        request.set("Authorization", None)
    return request


@on_request("sends its token in the URL as well", breaks="AU-62", scenario=DEFAULT)
def token_in_address(request: Request, client: ScriptedClient) -> Request | None:
    token = (request.header("authorization") or "").removeprefix("Bearer ")
    if is_to(request, ENDPOINT) and token:
        request.target = f"{request.target}?access_token={token}"
    return request


@on_request("sends a token of another authorization server", breaks="AU-68", scenario=DEFAULT)
def foreign_token(request: Request, client: ScriptedClient) -> Request | None:
    if is_to(request, ENDPOINT) and request.header("authorization") is None:
        request.set("Authorization", "Bearer token-of-another-server")
    return request


@on_request("sends an invented token", breaks="invalid-bearer-token", scenario=DEFAULT)
def token_made_up(request: Request, client: ScriptedClient) -> Request | None:
    if is_to(request, ENDPOINT):
        request.set("Authorization", "Bearer made-up-by-the-client")
    return request


@on_request("gets a token and never sends it", breaks="valid-bearer-token", scenario=DEFAULT)
def token_kept_back(request: Request, client: ScriptedClient) -> Request | None:
    if is_to(request, ENDPOINT):
        request.set("Authorization", None)
    return request


ANOTHER: Final = "https://another.example/mcp"
ALTERED: Final = (
    alters(AUTHORIZE, DEFAULT, "resource-of-others", "sends another `resource`", "AU-57", resource=ANOTHER),
    alters(
        TOKEN, DEFAULT, "resource-when-supported", "does not always send `resource`", "AU-58", resource=None
    ),
)
BEHAVIOURS: Final = (
    behaves(
        "auth/resource-mismatch",
        "resource-of-somebody",
        "accepts metadata of another resource",
        MISMATCH,
        checks_resource=False,
    ),
    behaves(
        "auth.resource-in-capitals",
        "capitals-refused",
        "rejects a resource in capitals",
        "AU-60",
        case_sensitive_host=True,
    ),
)
