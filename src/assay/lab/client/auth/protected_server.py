"""The surroundings of an authorization scenario: an authorization server in a room of its own, the metadata
of the resource, and a guard before the endpoint.

    async def drive(stage: ClientStage) -> None:
        await protect(stage, Protection(tenant="/tenant1", named=False, at=ROOT))

The trace is told where everything is (`LAID_OUT`); what was asked there is read by `journey.py`.
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
from assay.lab.client.declaration import in_force, requirement
from assay.lab.harness import Json
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, optional
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.side_server import serve_asgi
from assay.lab.harness.scripted_server.stage import ClientStage

LAID_OUT: Final = "laid out"
"""The mark that tells where the resource, its metadata and an authorization server are."""
ENDPOINT: Final = "1"
"""The room of the endpoint itself."""
ROOT: Final = "/.well-known/oauth-protected-resource"
TOOL: Final = "test-tool"
CIMD: Final = "https://conformance-test.local/client-metadata.json"
"""The address that stands for the metadata document of the client. It is known here and never fetched."""
DOCUMENT: Final = {
    "client_id": CIMD,
    "client_name": "conformance client",
    "redirect_uris": ["http://127.0.0.1/callback"],
}
DESCRIBED: Final[Json] = {"documents": True, "published": {CIMD: DOCUMENT}}
"""Settings of an authority that takes the address of a document for a client id."""
ANY: Final = "no-redirect-check"
OAUTH: Final = ("metadata-404-oidc", ANY)
"""Faults that leave metadata at OAuth's own place only, and take any redirect address."""


# What an authority can but need not say; what it says not, no client can build on.
_METADATA: Final[Json] = {
    "scopes_supported": None,
    "dpop_signing_alg_values_supported": None,
    "grant_types_supported": ["authorization_code", "refresh_token"],
}


class Protection(Struct, frozen=True, kw_only=True):
    """How a scenario differs from the usual one."""

    settings: Mapping[str, Any] = {}
    """Of the authority; its `metadata` is merged into the usual one, with the issuer for `{issuer}`."""
    faults: tuple[str, ...] = OAUTH
    tenant: str = ""
    """The path of the issuer, such as `/tenant1`."""
    together: bool = False
    """The authority is on the endpoint's own origin, and nothing tells of it."""
    at: str | None = None
    """The path of the resource's metadata; none for the well-known one of the endpoint."""
    named: bool = True
    """Whether a challenge tells where that is."""
    resource: str | None = None
    """What the metadata says that it is about; none for what is right there."""
    scopes: tuple[str, ...] | None = None
    """`scopes_supported` of the metadata."""
    scope: str = ""
    """Told by the challenge to those without a token."""
    needs: Mapping[str, str] = {}
    """Method → the scope without which its requests are refused."""
    opens: bool = False
    """Whether only POSTed requests other than `initialize` need a token."""
    scheme: str = "Bearer"


USUAL: Final = Protection()


class Visitor(Struct, frozen=True):
    """An HTTP request to the endpoint, and what its token is worth."""

    asked: InboundRequest
    scheme: str
    """Of its credentials, in small letters; empty where it has none."""
    token: str
    claims: Json | None
    """None for a token that no authority here gave out, or one that has expired."""

    @property
    def method(self) -> str:
        """Of the message in it."""
        try:
            found = msgspec.json.decode(self.asked.body)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return ""
        return str(found.get("method", "")) if isinstance(found, dict) else ""

    @property
    def opens(self) -> bool:
        """Whether it only prepares for what a token is needed for."""
        prepares = self.method == "initialize" or self.method.startswith("notifications/")
        return prepares or self.asked.method != "POST"

    @property
    def scopes(self) -> list[str]:
        return str((self.claims or {}).get("scope", "")).split()


class Refusal(Struct, frozen=True):
    status: int
    challenge: Mapping[str, str] = {}
    """Parameters of `WWW-Authenticate`; without any there is no such header."""
    scheme: str = "Bearer"
    headers: tuple[tuple[str, str], ...] = ()


Guard = Callable[[Visitor], Refusal | None]
"""Says why a visitor is not let in."""


class Protected:
    """The surroundings of one scenario, all of which it may change."""

    def __init__(self, stage: ClientStage, wanted: Protection) -> None:
        self.stage = stage
        self.wanted = wanted
        self.authorities: dict[str, Authority] = {}
        """By issuer."""
        self.place = _well_known(stage) if wanted.at is None else wanted.at
        """Where the metadata of the resource is."""
        self.resource = wanted.resource or (stage.origin if self.place == ROOT else stage.url)
        self.servers: list[str] = []
        """Issuers that the metadata names."""
        self.guard: Guard = self.usual_guard
        stage.server.on_http(self._answer)

    # -- who gives out tokens --------------------------------------------------------------------------------

    async def add_authority(self, room: str = "authority", **settings: Any) -> Authority:
        """Open an authority in a room; the settings are those of `Protection`, or changed ones."""
        apps: list[AuthorityApp] = []

        async def serve(request: InboundRequest, reply: HttpReply) -> None:
            await serve_asgi(apps[0], request, reply)

        origin = await self.stage.add_server(room, serve)
        authority = self.made(f"{origin}{self.wanted.tenant}", **settings)
        apps.append(AuthorityApp(authority))
        self.lay_out(authority, apps[0], room)
        return authority

    def join_authority(self) -> Authority:
        """Put an authority on the endpoint's own origin."""
        authority = self.made(f"{self.stage.origin}{self.wanted.tenant}")
        app = AuthorityApp(authority)

        async def serve(request: InboundRequest, reply: HttpReply) -> bool:
            if request.path in app.places:
                await serve_asgi(app, request, reply)
            return request.path in app.places

        self.stage.server.on_http(serve)
        self.lay_out(authority, app, ENDPOINT)
        return authority

    def made(self, issuer: str, **settings: Any) -> Authority:
        given = {**self.wanted.settings, **settings}
        usual = {
            "issuer": issuer,
            "auto_approve": True,
            "audience": self.resource,
            "documents": False,
            "methods": ("none",),
            "grants": ("authorization_code",),
            "faults": self.wanted.faults,
        }
        told = {**_METADATA, **given.pop("metadata", {})}
        metadata = {
            name: one.replace("{issuer}", issuer) if isinstance(one, str) else one
            for name, one in told.items()
        }
        authority = Authority(Settings(**{**usual, **given, "metadata": metadata}), fetch=_fetch_nothing)
        self.authorities[authority.issuer] = authority
        return authority

    def lay_out(self, authority: Authority, app: AuthorityApp, room: str) -> None:
        """Tell the trace where everything is."""
        settings = authority.settings
        origin = settings.issuer.removesuffix(settings.path)
        self.stage.server.mark(
            LAID_OUT,
            room=room,
            url=self.stage.url,
            resource=self.resource,
            metadata="" if self.wanted.together else f"{self.stage.origin}{self.place}",
            issuer=settings.issuer,
            authorize=settings.url("/authorize"),
            token=settings.url("/token"),
            register=settings.url("/register"),
            documents=sorted(f"{origin}{one}" for one in app.places if "/.well-known/" in one),
        )

    # -- who is let in ---------------------------------------------------------------------------------------

    async def _answer(self, request: InboundRequest, reply: HttpReply) -> bool:
        if request.path == self.place and not self.wanted.together:
            await reply.respond(200, msgspec.json.encode(self.document()), [("Content-Type", JSON)])
            return True
        if f"{self.stage.origin}{request.path}" != self.stage.url:
            return False
        refusal = self.guard(self.visitor(request))
        if refusal is not None:
            await _refuse(refusal, reply)
        return refusal is not None

    def document(self) -> Json:
        scopes = self.wanted.scopes
        supported = {} if scopes is None else {"scopes_supported": list(scopes)}
        return {"resource": self.resource, "authorization_servers": self.servers, **supported}

    def visitor(self, request: InboundRequest) -> Visitor:
        scheme, _, token = (request.header("authorization") or "").partition(" ")
        token = token.strip()
        found = (access_of(one, token) for one in self.authorities.values())
        return Visitor(request, scheme.lower(), token, next((one for one in found if one), None))

    def usual_guard(self, visitor: Visitor) -> Refusal | None:
        if self.wanted.opens and visitor.opens:
            return None
        if visitor.claims is None or visitor.scheme != self.wanted.scheme.lower():
            return self.unknown()
        needed = self.wanted.needs.get(visitor.method)
        return None if needed is None or needed in visitor.scopes else self.insufficient(needed)

    def unknown(self) -> Refusal:
        """To those who show no token, or none that is good."""
        return self.challenge(401, "invalid_token", self.wanted.scope)

    def insufficient(self, scope: str) -> Refusal:
        return self.challenge(403, "insufficient_scope", scope)

    def challenge(self, status: int, error: str, scope: str = "") -> Refusal:
        told = {"error": error}
        if scope:
            told["scope"] = scope
        if self.wanted.named and not self.wanted.together:
            told["resource_metadata"] = f"{self.stage.origin}{self.place}"
        return Refusal(status, told, self.wanted.scheme)


async def protect(stage: ClientStage, wanted: Protection = USUAL) -> Protected:
    """Set up an authorization scenario: one authority, the metadata that names it, a guard, a tool."""
    protected = Protected(stage, wanted)
    authority = protected.join_authority() if wanted.together else await protected.add_authority()
    protected.servers = [authority.issuer]
    stage.server.add_tool({"name": TOOL}, _tool)
    return protected


async def _tool(cycle: RequestCycle) -> Answer:
    return {"content": [{"type": "text", "text": "test"}]}


async def _refuse(refusal: Refusal, reply: HttpReply) -> None:
    words = ", ".join(f'{name}="{value}"' for name, value in refusal.challenge.items())
    told = [("WWW-Authenticate", f"{refusal.scheme} {words}")] if words else []
    body = msgspec.json.encode({"error": refusal.challenge.get("error", "gone")})
    await reply.respond(refusal.status, body, [*told, *refusal.headers, ("Content-Type", JSON)])


async def _fetch_nothing(url: str) -> NoReturn:
    raise NotFetched("the lab fetches nothing")


def _well_known(stage: ClientStage) -> str:
    return f"{ROOT}{stage.url.removeprefix(stage.origin)}"


CODE: Final = {"grant": "authorization_code"}
TWO: Final = (LIST_TOOLS, call_tool(TOOL))
LIST_AND_CALL: Final = ClientScript(steps=TWO, oauth=CODE)
IN_VAIN: Final = ClientScript(steps=tuple(optional(one) for one in TWO), oauth=CODE, may_fail=True)
"""For scenarios in which it is right that the client gets nowhere."""
BY_CODE: Final = (
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
"""Our checks of a client on its way by authorization code."""
OLD: Final = in_force("AU-28")
"""Where the authorization server is on the endpoint's own origin."""
OF_OLD: Final = f"auth/{requirement('AU-28').revisions[0].date}-"
"""How the official suite calls scenarios about that."""
RESOURCES: Final = in_force("AU-56")
"""Where resources have metadata, and tokens are for one."""
FOUND: Final = in_force("AU-13")
"""Where there are rules for finding that metadata, and for scopes."""
