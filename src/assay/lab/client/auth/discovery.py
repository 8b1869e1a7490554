"""Discovery: protected resource metadata, then authorization server metadata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Request, Trace, check, observe
from assay.lab.harness.check import Check
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.trace.authorization import METADATA
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import ENDPOINT, behaves
from .flow import OAUTH, OIDC, AuthorizationServer, Flow, before, path_in, path_of
from .official_step import (
    ALL_STEPS,
    AUTHORIZATION,
    PRM,
    REGISTRATION,
    SERVER_METADATA,
    SHARED,
    TOKEN,
    observe_steps,
)
from .protected_server import (
    ANY_REDIRECT,
    OLD_DISCOVERY,
    OLD_PREFIX,
    WELL_KNOWN,
    Protection,
    protected_scenario,
)

# --- what is asked


DEFAULT, VAR1, VAR2, VAR3 = (f"auth/metadata-{name}" for name in ("default", "var1", "var2", "var3"))
NO_METADATA, LOCAL_METADATA = f"{OLD_PREFIX}oauth-endpoint-fallback", f"{OLD_PREFIX}oauth-metadata-backcompat"
SCENARIOS: Final = (
    protected_scenario(DEFAULT, "Name the metadata URL in the challenge", aliases=("auth/basic-dcr",)),
    protected_scenario(
        VAR1,
        "Serve metadata at the endpoint's well-known path, and only OpenID Connect discovery",
        Protection(names_metadata=False, faults=("metadata-404-oauth", ANY_REDIRECT)),
    ),
    protected_scenario(
        VAR2,
        "Serve metadata at the root, for an issuer with a path",
        Protection(names_metadata=False, metadata_path=WELL_KNOWN, tenant="/tenant1"),
    ),
    protected_scenario(
        VAR3,
        "Serve metadata at a custom path, and OpenID Connect discovery below the issuer",
        Protection(
            metadata_path="/custom/metadata/location.json",
            tenant="/tenant1",
            faults=("metadata-only-appended", ANY_REDIRECT),
        ),
    ),
    protected_scenario(
        NO_METADATA,
        "Serve no metadata at all",
        Protection(
            same_origin=True, faults=("metadata-404-oauth", "metadata-404-oidc", "missing-iss", ANY_REDIRECT)
        ),
        window=OLD_DISCOVERY,
    ),
    protected_scenario(
        LOCAL_METADATA,
        "Serve server metadata on the endpoint's origin",
        Protection(same_origin=True, settings={"endpoints": "/oauth"}),
        window=OLD_DISCOVERY,
    ),
)


# --- how it is judged


PRIORITY: Final = "prm-priority-order"


@official_check(
    DEFAULT,
    "The metadata is requested at the URL in the challenge",
    requirements={
        PRIORITY: "The metadata was requested at the root, not at the URL in the challenge",
        **SHARED,
    },
)
def judge_metadata_default(trace: Trace) -> Iterator[Observation]:
    yield from observe_steps(trace, _priority(Flow(trace)), steps=(PRM, *ALL_STEPS))


def _priority(flow: Flow) -> Iterator[Observation]:
    for call in flow.resource_documents:
        path = path_in(call)
        expected = "a request for the metadata at the URL in the challenge, not at the root"
        holds, observed = path != WELL_KNOWN, f"requested at {path}"
        yield observe(PRIORITY, holds, call, expected=expected, observed=observed)


ISSUER_PATH: Final = "authorization-server-metadata-wrong-path"
WITH_PATH_FAULTS: Final = {ISSUER_PATH: "The metadata was requested without the path of the issuer", **SHARED}


def _steps_check(name: str, title: str, *steps: str) -> Check:
    return official_check(name, title, requirements=SHARED)(lambda trace: observe_steps(trace, steps=steps))


def _path_check(name: str, title: str) -> Check:
    return official_check(name, title, requirements=WITH_PATH_FAULTS)(
        lambda trace: observe_steps(trace, _issuer_path(Flow(trace)), steps=ALL_STEPS)
    )


CHECKS: Final = (
    _steps_check(VAR1, "Metadata at well-known URLs is used", PRM, *ALL_STEPS),
    _path_check(VAR2, "The metadata of an issuer with a path is used"),
    _path_check(VAR3, "The metadata below an issuer with a path is used"),
    _steps_check(
        NO_METADATA, "The default endpoints are used without metadata", REGISTRATION, AUTHORIZATION, TOKEN
    ),
    _steps_check(LOCAL_METADATA, "The metadata on the endpoint's origin is used", *ALL_STEPS),
)


def _issuer_path(flow: Flow) -> Iterator[Observation]:
    for server in flow.servers:
        for call in flow.documents_of(server) if server.tenant else ():
            path = path_in(call)
            expected = f"the path {server.tenant} of the issuer in the URL"
            yield observe(
                ISSUER_PATH, path != OAUTH, call, expected=expected, observed=f"requested at {path}"
            )


@check(
    "The metadata of the resource leads to the authorization server",
    requirements={
        "AU-11": "The client used an authorization server before it read the resource's metadata",
        "AU-12": "The client ignored the metadata URL in the challenge",
        "AU-13": "The client requested the resource's metadata in the wrong order",
    },
    transports=HTTP_ONLY,
)
def judge_resource_metadata(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    if not any(server.metadata for server in flow.servers):
        return
    yield from _metadata_first(flow)
    yield from _challenge_followed(flow)
    for call in flow.resource_documents[:1]:
        path, challenged = path_in(call), _challenged_path(flow, call.request.n)
        first = challenged or f"{WELL_KNOWN}{path_of(flow.servers[0].url)}"
        yield observe("AU-13", path == first, call, expected=f"{first} requested first", observed=path)


def _metadata_first(flow: Flow) -> Iterator[Observation]:
    for call in _server_calls(flow)[:1]:
        earlier = before(flow.resource_documents, call.request.n)
        expected = "a request for the resource's metadata before any to an authorization server"
        evidence = (*earlier[:1], call)
        yield observe("AU-11", bool(earlier), *evidence, expected=expected, observed=_request_line(call))


def _challenge_followed(flow: Flow) -> Iterator[Observation]:
    for call, challenge in flow.challenged[:1]:
        path = path_of(challenge.params[METADATA]) if METADATA in challenge.params else ""
        calls = [*flow.resource_documents, *_server_calls(flow)]
        later = [other for other in calls if other.request.n > call.request.n]
        if path and later:
            requested = any(path_in(other) == path for other in later)
            expected = f"a request for {path}, which the challenge names"
            yield observe("AU-12", requested, call, expected=expected, observed=_request_line(later[0]))


def _challenged_path(flow: Flow, n: int) -> str:
    """The path in the challenges before a frame; empty if they name none."""
    earlier = (challenge for call, challenge in flow.challenged if call.request.n < n)
    paths = (path_of(challenge.params[METADATA]) for challenge in earlier if METADATA in challenge.params)
    return next(paths, "")


def _server_calls(flow: Flow) -> list[Call]:
    """All requests for an authorization server, wherever the client expected it."""
    calls = [*flow.server_documents, *(request.call for request in flow.requests)]
    return sorted(calls, key=lambda call: call.request.n)


def _request_line(call: Call) -> str:
    return f"{call.sent.method} {path_in(call)}"


@check(
    "The metadata of the authorization server is found and used",
    requirements={
        "AU-22": "An endpoint was used before the metadata of its authorization server was read",
        "AU-23": "OpenID Connect discovery was not tried",
        "AU-24": "The metadata of an issuer with a path was requested in the wrong order",
        "AU-25": "The metadata of an issuer without a path was requested in the wrong order",
    },
    transports=HTTP_ONLY,
)
def judge_server_metadata(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    for server in flow.servers:
        yield from _read_first(flow, server)
        yield from _openid(flow, server)
        yield from _order(flow, server)


def _read_first(flow: Flow, server: AuthorizationServer) -> Iterator[Observation]:
    requests = [request for request in flow.requests if request.server == server]
    if not requests or not any(OAUTH in url for url in server.documents):
        return
    first = min(requests, key=lambda request: request.n)
    read = [call for call in before(flow.documents_of(server), first.n) if call.status == 200]
    expected = "the metadata read before any endpoint of the authorization server is used"
    observed = f"{path_in(first.call)} first"
    yield observe("AU-22", bool(read), *read[:1], first, expected=expected, observed=observed)


def _openid(flow: Flow, server: AuthorizationServer) -> Iterator[Observation]:
    """Where only OpenID Connect discovery exists."""
    paths = {path_of(url) for url in server.documents}
    calls = flow.documents_of(server)
    if calls and paths and not any(OAUTH in path for path in paths):
        requested = any(path_in(call) in paths for call in calls)
        observed = "only " + ", ".join(dict.fromkeys(map(path_in, calls)))
        expected = f"a request for {min(paths)}"
        yield observe("AU-23", requested, *calls, expected=expected, observed=observed)


def _order(flow: Flow, server: AuthorizationServer) -> Iterator[Observation]:
    tenant = server.tenant
    paths = list(dict.fromkeys([f"{OAUTH}{tenant}", f"{OIDC}{tenant}", f"{tenant}{OIDC}"]))
    first_calls: dict[str, Call] = {}
    for call in flow.documents_of(server):
        first_calls.setdefault(path_in(call), call)
    for number, path in enumerate(paths):
        if path not in first_calls:
            continue
        call = first_calls[path]
        # Documents may be requested at once: an earlier path is late only after the answer to this one.
        answered = call.received[-1].n if call.received else call.request.n
        missing = [
            earlier
            for earlier in paths[:number]
            if earlier not in first_calls or first_calls[earlier].request.n > answered
        ]
        requirement = "AU-24" if tenant else "AU-25"
        expected, observed = "before it " + ", ".join(paths[:number]), f"{path} without {missing}"
        yield observe(requirement, not missing, call, expected=expected, observed=observed)


@check(
    "An authorization server on the endpoint's origin is found",
    requirements={
        "AU-28": "The metadata was not requested at the root of the endpoint's origin",
        "AU-29": "The default endpoints were not used after the metadata was missing",
        "AU-31": "A request for metadata has no `MCP-Protocol-Version`",
    },
    transports=HTTP_ONLY,
)
def judge_old_discovery(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    for server in flow.servers:
        if not server.metadata:
            yield from (_root if server.documents else _defaults)(flow, server)
    for call in flow.server_documents:
        version = call.sent.get("mcp-protocol-version")
        expected = "a header MCP-Protocol-Version"
        yield observe("AU-31", version is not None, call, expected=expected, observed="none")


def _root(flow: Flow, server: AuthorizationServer) -> Iterator[Observation]:
    calls = flow.documents_of(server)
    if calls:
        paths = [path_in(call) for call in calls]
        expected, observed = f"a request for {OAUTH}", ", ".join(paths)
        yield observe("AU-28", OAUTH in paths, *calls, expected=expected, observed=observed)


def _defaults(flow: Flow, server: AuthorizationServer) -> Iterator[Observation]:
    calls = flow.documents_of(server)
    requests = [*flow.registrations, *flow.authorizations]
    for request in sorted(requests, key=lambda request: request.n)[:1]:
        tried = before(calls, request.n)
        expected = "metadata tried first, then the default endpoints"
        yield observe("AU-29", bool(tried), *tried, request, expected=expected, observed="no metadata tried")
    if calls and not requests:
        expected = "requests to the default endpoints, since there is no metadata"
        yield observe("AU-29", False, *calls, expected=expected, observed="none")


# --- what the checks must catch


@on_request("requests metadata below the path of the endpoint", breaks="AU-28", scenario=LOCAL_METADATA)
def metadata_below_endpoint(request: Request, client: ScriptedClient) -> Request | None:
    if request.target == OAUTH:
        request.target = f"{OAUTH}{ENDPOINT}"
    return request


@on_request("sends no version in requests for metadata", breaks="AU-31", scenario=LOCAL_METADATA)
def discovery_without_version(request: Request, client: ScriptedClient) -> Request | None:
    if "/.well-known/" in request.target:
        request.set("MCP-Protocol-Version", None)
    return request


BEHAVIOURS: Final = (
    behaves(
        DEFAULT, "root-first", "requests the resource's metadata at the root", PRIORITY, asks_root_first=True
    ),
    behaves(DEFAULT, "no-resource-metadata", "ignores resource metadata", PRM, reads_resource_metadata=False),
    behaves(
        DEFAULT, "no-server-metadata", "ignores server metadata", SERVER_METADATA, reads_server_metadata=False
    ),
    behaves(DEFAULT, "openid-first", "tries OpenID Connect discovery first", "AU-25", openid_first=True),
    behaves(
        VAR1,
        "server-at-endpoint",
        "expects the authorization server on the endpoint's origin",
        "AU-11",
        reads_resource_metadata=False,
    ),
    behaves(
        VAR1, "root-before-path", "tries the root before the endpoint's path", "AU-13", asks_root_first=True
    ),
    behaves(VAR1, "openid-unknown", "does not support OpenID Connect discovery", "AU-23", knows_openid=False),
    behaves(VAR2, "issuer-without-path", "drops the path of the issuer", ISSUER_PATH, drops_issuer_path=True),
    behaves(
        VAR2, "openid-first-with-path", "tries OpenID Connect discovery first", "AU-24", openid_first=True
    ),
    behaves(VAR3, "challenge-not-read", "ignores the URL in the challenge", "AU-12", honours_challenge=False),
    behaves(
        "auth/scope-from-www-authenticate",
        "endpoints-guessed",
        "guesses the URLs of the endpoints",
        "AU-22",
        reads_server_metadata=False,
    ),
    behaves(
        NO_METADATA, "defaults-at-once", "uses the defaults at once", "AU-29", reads_server_metadata=False
    ),
)
