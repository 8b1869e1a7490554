"""Authentication of clients at the token endpoint."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from functools import partial
from typing import Final

from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Request, Trace, observe
from assay.lab.harness.check import Check
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.scripted_client.client import ScriptedClient

from .altered_request import AUTHORIZE, DEFAULT, ENDPOINT, TOKEN, altered, alters, is_to
from .flow import BASIC, NONE, POST, AuthRequest, Flow, credentials, is_absolute, method_of
from .official_step import SHARED, authorization_of, observe_steps
from .protected_server import WITH_RESOURCES, Protection, protected_scenario

# --- what is asked


ON_BASIC, PUBLIC, ON_POST = (f"auth/token-endpoint-auth-{method}" for method in ("basic", "none", "post"))
_method_scenario = partial(protected_scenario, window=WITH_RESOURCES)
SCENARIOS: Final = (
    _method_scenario(
        ON_BASIC,
        "Offer client_secret_basic at the token endpoint",
        Protection(settings={"methods": (BASIC,)}),
    ),
    _method_scenario(PUBLIC, "Offer a token endpoint for public clients"),
    _method_scenario(
        ON_POST, "Offer client_secret_post at the token endpoint", Protection(settings={"methods": (POST,)})
    ),
)

# --- how it is judged


METHOD: Final = "token-endpoint-auth-method"
IN_AUTHORIZATION, IN_TOKEN = "resource-parameter-in-authorization", "resource-parameter-in-token"
VALID, SAME = "resource-parameter-valid-uri", "resource-parameter-consistency"
MATCHES: Final = "resource-parameter-matches-prm"
FAULTS: Final = {
    METHOD: "A token request does not use the method that the server supports",
    IN_AUTHORIZATION: "An authorization request has no `resource`",
    IN_TOKEN: "A token request has no `resource`",
    VALID: "`resource` is not an absolute URI without a fragment",
    SAME: "`resource` differs between the authorization and the token request",
    MATCHES: "`resource` differs from the resource's metadata",
    **SHARED,
}


def _method_check(name: str, title: str, method: str) -> Check:
    expected = {
        METHOD: "a request to the token endpoint",
        IN_AUTHORIZATION: "an authorization request with `resource`",
        IN_TOKEN: "a token request with `resource`",
    }

    @official_check(name, title, requirements=FAULTS)
    def judge(trace: Trace) -> Iterator[Observation]:
        flow = Flow(trace)
        yield from observe_steps(trace, [*_methods(flow, method), *_resources(flow)], expected=expected)

    return judge


CHECKS: Final = (
    _method_check(ON_BASIC, "The client authenticates by HTTP Basic", BASIC),
    _method_check(PUBLIC, "A public client does not authenticate", NONE),
    _method_check(ON_POST, "The client authenticates in the form", POST),
)


def _methods(flow: Flow, expected: str) -> Iterator[Observation]:
    for request in flow.token_requests:
        method = method_of(request)
        malformed = method == BASIC and credentials(request) is None
        observed = f"{method}, but not as base64 of id and secret" if malformed else method
        holds = method == expected and not malformed
        yield observe(METHOD, holds, request, expected=expected, observed=observed)


def _resources(flow: Flow) -> Iterator[Observation]:
    for requirement, requests in ((IN_AUTHORIZATION, flow.authorizations), (IN_TOKEN, flow.token_requests)):
        for request in requests:
            resource = str(request.params.get("resource") or "")
            yield observe(requirement, bool(resource), request, expected="a `resource`", observed="none")
            if resource:
                yield from _resource(resource, request)
    for request in flow.token_requests:
        authorization = authorization_of(flow, request)
        first = authorization.params.get("resource") if authorization else None
        second = request.params.get("resource")
        if authorization is not None and first and second:
            expected = f"the resource {first}, as in the authorization request"
            evidence = (authorization, request)
            yield observe(SAME, first == second, *evidence, expected=expected, observed=second)


def _resource(resource: str, request: AuthRequest) -> Iterator[Observation]:
    valid, expected = is_absolute(resource) and "#" not in resource, "an absolute URI without a fragment"
    yield observe(VALID, valid, request, expected=expected, observed=resource)
    actual = request.server.resource
    expected = f"{actual}, as in the metadata"
    yield observe(MATCHES, resource == actual, request, expected=expected, observed=resource)


# --- what the checks must catch


@on_request("sends its secret in the form instead of the header", breaks=METHOD, scenario=ON_BASIC)
def secret_in_form(request: Request, client: ScriptedClient) -> Request | None:
    header = request.header("authorization") or ""
    if not is_to(request, TOKEN) or not header.startswith("Basic "):
        return request
    name, _, secret = b64decode(header.removeprefix("Basic ")).decode().partition(":")
    request.set("Authorization", None)
    return altered(request, TOKEN, client_id=name, client_secret=secret)


@on_request("names another resource in the token request", breaks=SAME, scenario=PUBLIC)
def token_for_another(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, resource=f"{client.setup.url}/other")


@on_request("names only the origin as the resource", breaks=MATCHES, scenario=PUBLIC)
def resource_by_origin(request: Request, client: ScriptedClient) -> Request | None:
    origin = client.setup.url.removesuffix(ENDPOINT)
    return altered(altered(request, AUTHORIZE, resource=origin), TOKEN, resource=origin)


@on_request("names the resource with a fragment", breaks=VALID, scenario=PUBLIC)
def resource_with_fragment(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, resource=f"{client.setup.url}#part")


@on_request("never requests a token", breaks="token-request", scenario=DEFAULT)
def never_exchanges(request: Request, client: ScriptedClient) -> Request | None:
    return None if is_to(request, TOKEN) else request


ALTERED: Final = (
    alters(
        AUTHORIZE, PUBLIC, "authorized-for-anything", "sends no `resource`", IN_AUTHORIZATION, resource=None
    ),
    alters(TOKEN, PUBLIC, "token-for-anything", "sends no `resource`", IN_TOKEN, resource=None),
)
