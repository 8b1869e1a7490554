"""The environment of an authorization scenario: an authorization server, the metadata of the resource, and a
guard of the endpoint.

    async def drive(stage: ClientStage) -> None:
        await protect(stage, Protection(tenant="/tenant1", names_metadata=False, metadata_path=WELL_KNOWN))

A mark in the trace (`LAYOUT`) records where everything is; `flow.py` reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

import msgspec
from msgspec import Struct

from assay.authority.app import AuthorityApp
from assay.authority.authority import Authority
from assay.authority.fetch import NotFetched
from assay.authority.issued_token import access_of
from assay.authority.settings import Settings
from assay.lab.client.declaration import in_force, official_scenario, requirement
from assay.lab.harness import Json
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.scenario import Scenario, Window
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, optional
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.side_server import serve_asgi
from assay.lab.harness.scripted_server.stage import ClientStage

LAYOUT: Final = "laid out"
"""The mark with the addresses of the resource, its metadata and an authorization server."""
ENDPOINT_NAME: Final = "1"
"""The name of the endpoint's own HTTP server in traces."""
WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"
TOOL: Final = "test-tool"
CIMD: Final = "https://conformance-test.local/client-metadata.json"
"""The URL of the client's metadata document. The lab knows the document and never fetches it."""
DOCUMENT: Final = {
    "client_id": CIMD,
    "client_name": "conformance client",
    "redirect_uris": ["http://127.0.0.1/callback"],
}
WITH_DOCUMENTS: Final[Json] = {"documents": True, "published": {CIMD: DOCUMENT}}
"""Settings of an authority that accepts the URL of a metadata document as client id."""
ANY_REDIRECT: Final = "no-redirect-check"
OAUTH_ONLY: Final = ("metadata-404-oidc", ANY_REDIRECT)
"""Faults that leave only OAuth metadata, and accept any redirect URI."""


# Clients must not rely on optional metadata, so it is left out.
_METADATA: Final[Json] = {
    "scopes_supported": None,
    "dpop_signing_alg_values_supported": None,
    "grant_types_supported": ["authorization_code", "refresh_token"],
}


class Protection(Struct, frozen=True, kw_only=True):
    """The options of an authorization scenario."""

    settings: Mapping[str, Any] = {}
    """Settings of the authority; `metadata` is merged into the default, `{issuer}` becomes the issuer."""
    faults: tuple[str, ...] = OAUTH_ONLY
    tenant: str = ""
    """The path of the issuer, such as `/tenant1`."""
    same_origin: bool = False
    """The authority is on the endpoint's origin, and the resource has no metadata."""
    metadata_path: str | None = None
    """The path of the resource's metadata; by default, the well-known one of the endpoint."""
    names_metadata: bool = True
    """Whether a challenge names the URL of the metadata."""
    resource: str | None = None
    """The resource in the metadata, if it is not the actual one."""
    scopes: tuple[str, ...] | None = None
    """`scopes_supported` of the metadata."""
    scope: str = ""
    """The scope in the challenge to requests without a token."""
    needed_scopes: Mapping[str, str] = {}
    """Method → the scope without which its requests are rejected."""
    open_handshake: bool = False
    """Whether only POSTed requests other than `initialize` need a token."""
    scheme: str = "Bearer"


DEFAULT: Final = Protection()


class GuardedRequest(Struct, frozen=True):
    """An HTTP request to the endpoint, with its token."""

    http: InboundRequest
    scheme: str
    """The scheme of its credentials in lower case; empty if it has none."""
    token: str
    claims: Json | None
    """The claims of the token; `None` if no authority here issued it, or it has expired."""

    @property
    def method(self) -> str:
        """The method of the message."""
        try:
            message = msgspec.json.decode(self.http.body)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return ""
        return str(message.get("method", "")) if isinstance(message, dict) else ""

    @property
    def is_handshake(self) -> bool:
        """Whether the request is allowed without a token under `open_handshake`."""
        opening = self.method == "initialize" or self.method.startswith("notifications/")
        return opening or self.http.method != "POST"

    @property
    def scopes(self) -> list[str]:
        return str((self.claims or {}).get("scope", "")).split()


class Rejection(Struct, frozen=True):
    status: int
    challenge: Mapping[str, str] = {}
    """Parameters of `WWW-Authenticate`; without any, the header is left out."""
    scheme: str = "Bearer"
    headers: tuple[tuple[str, str], ...] = ()


Guard = Callable[[GuardedRequest], Rejection | None]
"""Returns why a request is rejected."""


class Protected:
    """The environment of one scenario, which may change any of it."""

    def __init__(self, stage: ClientStage, options: Protection) -> None:
        self.stage = stage
        self.options = options
        self.authorities: dict[str, Authority] = {}
        """By issuer."""
        well_known = f"{WELL_KNOWN}{stage.url.removeprefix(stage.origin)}"
        self.path = well_known if options.metadata_path is None else options.metadata_path
        """The path of the resource's metadata."""
        self.resource = options.resource or (stage.origin if self.path == WELL_KNOWN else stage.url)
        self.issuers: list[str] = []
        """The issuers in the resource's metadata."""
        self.guard: Guard = self.default_guard
        stage.server.on_http(self._answer)

    # -- authorities -----------------------------------------------------------------------------------------

    async def add_authority(self, name: str = "authority", **settings: Any) -> Authority:
        """Start an authority with the settings of `Protection`, and these instead."""
        apps: list[AuthorityApp] = []

        async def serve(request: InboundRequest, reply: HttpReply) -> None:
            await serve_asgi(apps[0], request, reply)

        origin = await self.stage.add_server(name, serve)
        authority = self._create(f"{origin}{self.options.tenant}", **settings)
        apps.append(AuthorityApp(authority))
        self._mark_layout(authority, apps[0], name)
        return authority

    def add_local_authority(self) -> Authority:
        """Serve an authority on the endpoint's origin."""
        authority = self._create(f"{self.stage.origin}{self.options.tenant}")
        app = AuthorityApp(authority)

        async def serve(request: InboundRequest, reply: HttpReply) -> bool:
            if request.path in app.places:
                await serve_asgi(app, request, reply)
            return request.path in app.places

        self.stage.server.on_http(serve)
        self._mark_layout(authority, app, ENDPOINT_NAME)
        return authority

    def _create(self, issuer: str, **settings: Any) -> Authority:
        changed = {**self.options.settings, **settings}
        default = {
            "issuer": issuer,
            "auto_approve": True,
            "audience": self.resource,
            "documents": False,
            "methods": ("none",),
            "grants": ("authorization_code",),
            "faults": self.options.faults,
        }
        metadata = {
            name: value.replace("{issuer}", issuer) if isinstance(value, str) else value
            for name, value in {**_METADATA, **changed.pop("metadata", {})}.items()
        }
        authority = Authority(Settings(**{**default, **changed, "metadata": metadata}), fetch=_fetch_nothing)
        self.authorities[authority.issuer] = authority
        return authority

    def _mark_layout(self, authority: Authority, app: AuthorityApp, name: str) -> None:
        settings = authority.settings
        origin = settings.issuer.removesuffix(settings.path)
        self.stage.server.mark(
            LAYOUT,
            room=name,
            url=self.stage.url,
            resource=self.resource,
            metadata="" if self.options.same_origin else f"{self.stage.origin}{self.path}",
            issuer=settings.issuer,
            authorize=settings.url("/authorize"),
            token=settings.url("/token"),
            register=settings.url("/register"),
            documents=sorted(f"{origin}{path}" for path in app.places if "/.well-known/" in path),
        )

    # -- the resource ----------------------------------------------------------------------------------------

    async def _answer(self, request: InboundRequest, reply: HttpReply) -> bool:
        if request.path == self.path and not self.options.same_origin:
            await reply.respond(200, msgspec.json.encode(self._document()), [("Content-Type", JSON)])
            return True
        if f"{self.stage.origin}{request.path}" != self.stage.url:
            return False
        rejection = self.guard(self._guarded(request))
        if rejection is not None:
            await _reject(rejection, reply)
        return rejection is not None

    def _document(self) -> Json:
        scopes = self.options.scopes
        supported = {} if scopes is None else {"scopes_supported": list(scopes)}
        return {"resource": self.resource, "authorization_servers": self.issuers, **supported}

    def _guarded(self, request: InboundRequest) -> GuardedRequest:
        scheme, _, token = (request.header("authorization") or "").partition(" ")
        token = token.strip()
        claims = (access_of(authority, token) for authority in self.authorities.values())
        return GuardedRequest(request, scheme.lower(), token, next(filter(None, claims), None))

    def default_guard(self, request: GuardedRequest) -> Rejection | None:
        if self.options.open_handshake and request.is_handshake:
            return None
        if request.claims is None or request.scheme != self.options.scheme.lower():
            return self.unauthorized()
        needed = self.options.needed_scopes.get(request.method)
        return None if needed is None or needed in request.scopes else self.insufficient(needed)

    def unauthorized(self) -> Rejection:
        return self.challenge(401, "invalid_token", self.options.scope)

    def insufficient(self, scope: str) -> Rejection:
        return self.challenge(403, "insufficient_scope", scope)

    def challenge(self, status: int, error: str, scope: str = "") -> Rejection:
        params = {"error": error}
        if scope:
            params["scope"] = scope
        if self.options.names_metadata and not self.options.same_origin:
            params["resource_metadata"] = f"{self.stage.origin}{self.path}"
        return Rejection(status, params, self.options.scheme)


async def protect(stage: ClientStage, options: Protection = DEFAULT) -> Protected:
    """Set up an authorization scenario with an authority, the metadata that names it, a guard and a tool."""
    protected = Protected(stage, options)
    same_origin = options.same_origin
    authority = protected.add_local_authority() if same_origin else await protected.add_authority()
    protected.issuers = [authority.issuer]
    stage.server.add_tool({"name": TOOL}, _tool)
    return protected


async def _tool(cycle: RequestCycle) -> Answer:
    return {"content": [{"type": "text", "text": "test"}]}


async def _reject(rejection: Rejection, reply: HttpReply) -> None:
    params = ", ".join(f'{name}="{value}"' for name, value in rejection.challenge.items())
    challenge = [("WWW-Authenticate", f"{rejection.scheme} {params}")] if params else []
    body = msgspec.json.encode({"error": rejection.challenge.get("error", "gone")})
    await reply.respond(rejection.status, body, [*challenge, *rejection.headers, ("Content-Type", JSON)])


async def _fetch_nothing(url: str) -> NoReturn:
    raise NotFetched("the lab fetches nothing")


CODE_GRANT: Final = {"grant": "authorization_code"}
STEPS: Final = (LIST_TOOLS, call_tool(TOOL))
LIST_AND_CALL: Final = ClientScript(steps=STEPS, oauth=CODE_GRANT)
MAY_FAIL: Final = ClientScript(steps=tuple(optional(step) for step in STEPS), oauth=CODE_GRANT, may_fail=True)
"""For scenarios in which the client should not get a token."""
CODE_FLOW_CHECKS: Final = (
    "auth.resource-metadata",
    "auth.server-metadata",
    "auth.old-discovery",
    "auth.scopes",
    "auth.retries",
    "auth.client-ids",
    "auth.registering",
    "auth.resource-parameter",
    "auth.bearing",
    "auth.proof-key",
    "auth.state",
)
"""The checks of a client that uses the authorization code flow."""
OLD_DISCOVERY: Final = in_force("AU-28")
"""Revisions in which the authorization server is on the endpoint's origin."""
OLD_PREFIX: Final = f"auth/{requirement('AU-28').revisions[0].date}-"
"""The prefix of the official scenarios about these revisions."""
WITH_RESOURCES: Final = in_force("AU-56")
"""Revisions in which resources have metadata, and a token is for one resource."""
WITH_DISCOVERY: Final = in_force("AU-13")
"""Revisions with rules for scopes and for the discovery of this metadata."""


def protected_scenario(
    name: str,
    title: str,
    options: Protection = DEFAULT,
    *,
    script: ClientScript = LIST_AND_CALL,
    exercises: tuple[str, ...] = CODE_FLOW_CHECKS,
    window: Window = WITH_DISCOVERY,
    aliases: tuple[str, ...] = (),
) -> Scenario:
    """The official scenario of this name, with a server that is protected in this way."""

    async def drive(stage: ClientStage) -> None:
        await protect(stage, options)

    return official_scenario(name, title, script=script, exercises=exercises, window=window, aliases=aliases)(
        drive
    )
