"""The resource that a token is for, and where the token is sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from assay.lab.client.declaration import client_scenario, in_force, official_scenario
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Request, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import behaviour, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import AUTHORIZE, ENDPOINT, TOKEN, altered, goes_to
from .credential import is_absolute
from .flow import Journey, Stop, bearer, content, query_of
from .official_step import SHARED, walked
from .protected_server import IN_VAIN, LIST_AND_CALL, RESOURCES, Protection, protect

# --- what is asked


@client_scenario(
    "A resource in capitals",
    script=LIST_AND_CALL,
    exercises=("auth.capitals",),
    transports=HTTP_ONLY,
    window=RESOURCES,
)
async def drive_resource_in_capitals(stage: ClientStage) -> None:
    path = stage.url.removeprefix(stage.origin)
    await protect(stage, Protection(resource=f"{stage.origin.upper()}{path}"))


OTHER: Final = "https://evil.example.com/mcp"


@official_scenario(
    "auth/resource-mismatch",
    "Metadata of another resource",
    script=IN_VAIN,
    window=in_force("resource-mismatch-rejected"),
)
async def drive_resource_mismatch(stage: ClientStage) -> None:
    await protect(stage, Protection(resource=OTHER))


# --- how it is judged


ROW = "resource-mismatch-rejected"
WANTED: Final = "the metadata is read, and no authorization request follows"


@official_check("auth/resource-mismatch", "Metadata of another resource", requirements=(ROW, *SHARED))
def judge_resource_mismatch(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, _stopped(Journey(trace)), wanted={ROW: WANTED})


def _stopped(journey: Journey) -> Iterator[Observation]:
    read = [call for call in journey.resource_documents if call.status == 200 and content(call)]
    asked = [*journey.authorizations, *journey.exchanges]
    if read or asked:
        observed = "a request for authorization"
        yield observe(ROW, not asked, *read[:1], *asked[:1], expected=WANTED, observed=observed)


CAPITALS_ROW = "AU-60"


@check("Capitals in the resource are accepted", requirements=(CAPITALS_ROW,), transports=HTTP_ONLY)
def judge_capitals(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for call in [one for one in journey.resource_documents if one.status == 200][:1]:
        resource = str(content(call).get("resource", ""))
        origin = resource.removesuffix("/mcp")
        if origin != origin.lower():
            made = journey.authorizations
            expected = f"an authorization request, since {resource} is the endpoint"
            yield observe(CAPITALS_ROW, bool(made), call, *made[:1], expected=expected, observed="none")


SENT, CANONICAL, ALWAYS, FORM = "AU-56", "AU-57", "AU-58", "AU-59"


@check("`resource` names the server", requirements=(SENT, CANONICAL, ALWAYS, FORM), transports=HTTP_ONLY)
def judge_resource_parameter(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    by_code = [one for one in journey.exchanges if one.said.get("grant_type") == "authorization_code"]
    for stop in (*journey.authorizations, *by_code):
        named = stop.said.get("resource")
        yield observe(SENT, bool(named), stop, expected="a `resource`", observed="none")
        # Nothing in the metadata of the server says that it knows the parameter.
        expected = "a `resource`, whatever the server supports"
        yield observe(ALWAYS, bool(named), stop, expected=expected, observed="none")
        if named:
            yield from _named(str(named), stop)


def _named(named: str, stop: Stop) -> Iterator[Observation]:
    url = stop.spot.url
    expected = f"a URI of {url}, with a scheme and without a fragment"
    yield observe(CANONICAL, is_of(named, url), stop, expected=expected, observed=named)
    slash = named.endswith("/") and not stop.spot.resource.endswith("/")
    yield observe(FORM, not slash, stop, expected="no slash at the end", observed=named)


def is_of(named: str, url: str) -> bool:
    """Whether a URI is that of the endpoint, or of all below a path that it is in."""
    if not is_absolute(named) or "#" in named:
        return False
    one, other = urlsplit(named), urlsplit(url)
    same = (one.scheme.lower(), one.netloc.lower()) == (other.scheme, other.netloc)
    return same and f"{other.path}/".startswith(f"{one.path.rstrip('/')}/")


EVERY, NO_QUERY, OWN = "AU-61", "AU-62", "AU-68"


@check(
    "The token is shown in the header of every request",
    requirements=(EVERY, NO_QUERY, OWN),
    transports=HTTP_ONLY,
)
def judge_bearing(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    given = min((stop.n for stop in journey.tokens.values()), default=None)
    if given is not None:
        yield from _shown([call for call in journey.visits if call.request.n > given], journey)
    for call in journey.visits:
        if token := bearer(call):
            expected = "a token that this server's authorization server gave out"
            yield observe(OWN, token in journey.tokens, call, expected=expected, observed=f"{token[:12]}…")


def _shown(later: list[Call], journey: Journey) -> Iterator[Observation]:
    """Requests after the first token was given. One that was under way then need not have it: what counts
    begins with the first that shows it."""
    first = next((number for number, call in enumerate(later) if bearer(call)), 0)
    for call in later[first:]:
        shown = call.sent.get("authorization")
        expected = "a header Authorization: Bearer, with the token"
        yield observe(EVERY, bool(bearer(call)), call, expected=expected, observed=(shown or "none")[:20])
    for call in later:
        query = query_of(call)
        holds = "access_token" not in query and not any(one in journey.tokens for one in query.values())
        expected = "no token in the address"
        yield observe(NO_QUERY, holds, call, expected=expected, observed=f"parameters {sorted(query)}")


# --- what the checks must catch


@on_request("it never says what the token is for", breaks="AU-56", scenario="auth/metadata-default")
def no_resource(request: Request, client: ScriptedClient) -> Request | None:
    return altered(altered(request, AUTHORIZE, resource=None), TOKEN, resource=None)


@on_request("it says that the token is for another server", breaks="AU-57", scenario="auth/metadata-default")
def resource_of_others(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, resource="https://another.example/mcp")


@on_request(
    "it names the resource only to servers that are known to mind",
    breaks="AU-58",
    scenario="auth/metadata-default",
)
def resource_when_supported(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, resource=None)


@on_request("it names the resource with a slash at the end", breaks="AU-59", scenario="auth/metadata-default")
def resource_with_slash(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, AUTHORIZE, resource=f"{client.setup.url}/")


@on_request("it shows its token in its first request alone", breaks="AU-61", scenario="auth/metadata-default")
def token_once(request: Request, client: ScriptedClient) -> Request | None:
    if goes_to(request, ENDPOINT) and b'"tools/call"' in request.body:
        request.set("Authorization", None)
    return request


@on_request("it puts its token into the address as well", breaks="AU-62", scenario="auth/metadata-default")
def token_in_address(request: Request, client: ScriptedClient) -> Request | None:
    token = (request.header("authorization") or "").removeprefix("Bearer ")
    if goes_to(request, ENDPOINT) and token:
        request.target = f"{request.target}?access_token={token}"
    return request


@on_request(
    "it shows a token of another authorization server", breaks="AU-68", scenario="auth/metadata-default"
)
def foreign_token(request: Request, client: ScriptedClient) -> Request | None:
    if goes_to(request, ENDPOINT) and request.header("authorization") is None:
        request.set("Authorization", "Bearer token-of-another-server")
    return request


@on_request(
    "it shows a token that nobody gave it", breaks="invalid-bearer-token", scenario="auth/metadata-default"
)
def token_made_up(request: Request, client: ScriptedClient) -> Request | None:
    if goes_to(request, ENDPOINT):
        request.set("Authorization", "Bearer made-up-by-the-client")
    return request


@on_request(
    "it gets a token and never shows it", breaks="valid-bearer-token", scenario="auth/metadata-default"
)
def token_kept_back(request: Request, client: ScriptedClient) -> Request | None:
    if goes_to(request, ENDPOINT):
        request.set("Authorization", None)
    return request


BEHAVIOURS: Final = (
    behaviour(
        "auth.resource-of-somebody",
        "it takes metadata that is about another resource",
        breaks="resource-mismatch-rejected",
        scenario="auth/resource-mismatch",
        checks_resource=False,
    ),
    behaviour(
        "auth.capitals-refused",
        "it refuses a resource in capitals",
        breaks="AU-60",
        scenario="auth.resource-in-capitals",
        case_sensitive_host=True,
    ),
)
