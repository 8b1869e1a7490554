"""Tokens from an authorization server: by client credentials, or minted by a development server.

Error messages never contain tokens or secrets.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

import msgspec
from msgspec import Struct

from assay.lab.harness.links.broken_off import BrokenOff, NoToken
from assay.lab.harness.links.http_call import Answer, fetch
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.links.identity import DEFAULT_IDENTITY, Identity
from assay.lab.harness.trace.authorization import WELL_KNOWN

from .bearer import (
    AHEAD,
    CAPITALS,
    EXPIRED,
    FOREIGN,
    OTHER,
    OTHER_ISSUER,
    STRANGER,
    USUAL,
    WEAK,
    claims_ahead,
    claims_of,
)

DEVELOPMENT: Final = "assay_development_only"
"""Metadata key of `assay authority`, which mints any token if it was started with --dev-mint."""
ELSEWHERE: Final = "https://elsewhere.example/mcp"
FORM: Final = "application/x-www-form-urlencoded"
LIFETIME: Final = 300.0
"""Assumed lifetime of a token, in seconds, if the issuer does not state it."""
# Faults of minted tokens by kind.
FAULTS: Final = {
    EXPIRED: "expired-token",
    FOREIGN: "token-wrong-audience",
    OTHER_ISSUER: "token-wrong-issuer",
    STRANGER: "stranger-key",
}


class ClientCredentials(Struct, frozen=True):
    """Credentials at the authorization server; each client is a separate user."""

    id: str
    secret: str


class TokenSource:
    def __init__(
        self,
        issuer: str,
        audience: str,
        client: ClientCredentials | None = None,
        scopes: Sequence[str] = (),
        identity: Identity = DEFAULT_IDENTITY,
    ) -> None:
        """Without a client, the lab registers two. `identity` is used with the resource server, not with the
        issuer."""
        self._issuer = issuer.rstrip("/")
        self._audience = audience
        self._clients: dict[str, ClientCredentials] = {} if client is None else {USUAL: client}
        self._registers = client is None
        self._scopes = tuple(scopes)
        self._identity = identity
        self._metadata: dict[str, Any] = {}
        self._mints = False

    async def fetch(self) -> tuple[Mapping[str, str], float]:
        """Tokens of all kinds that the issuer offers, and their lifetime in seconds.

        Raises:
            NoToken: the issuer does not issue a usual token.
        """
        if not self._metadata:
            self._metadata = await self._fetch_metadata()
            self._scopes = self._scopes or await self._scopes_of_resource()
            self._mints = bool(self._metadata.get(DEVELOPMENT)) and await self._mint() is not None
        return (await self._mint_all(), LIFETIME) if self._mints else await self._request_all()

    async def grant(self, scopes: Sequence[str]) -> str | None:
        """A token of the usual user with exactly these scopes."""
        if self._mints:
            return await self._mint(scopes=list(scopes))
        token = (await self._request(USUAL, scopes)).get("access_token")
        return token if isinstance(token, str) else None

    async def mint(self, kind: str) -> str | None:
        """A new token of the usual user that is not valid yet."""
        return await self._mint(claims=claims_ahead(kind)) if self._mints else None

    async def _fetch_metadata(self) -> dict[str, Any]:
        parts = urlsplit(self._issuer)
        base = f"{parts.scheme}://{parts.netloc}"
        for url in (
            f"{base}/.well-known/oauth-authorization-server{parts.path}",
            f"{base}/.well-known/openid-configuration{parts.path}",
            f"{self._issuer}/.well-known/openid-configuration",
        ):
            metadata = (await self._ask("GET", url)).object
            if isinstance(metadata.get("token_endpoint"), str):
                return metadata
        raise NoToken(f"{self._issuer} publishes no authorization server metadata")

    async def _scopes_of_resource(self) -> tuple[str, ...]:
        """The scopes in the resource server's own metadata."""
        parts = urlsplit(self._audience)
        url = f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}{parts.path.rstrip('/')}"
        answer = await self._ask("GET", url, identity=self._identity)
        scopes = answer.object.get("scopes_supported")
        return tuple(map(str, scopes)) if isinstance(scopes, list) else ()

    async def _mint_all(self) -> dict[str, str]:
        changes_by_kind: dict[str, dict[str, Any]] = {
            USUAL: {},
            OTHER: {"subject": "assay-lab-two"},
            **({WEAK: {"scopes": []}} if self._scopes else {}),
            CAPITALS: {"audience": in_capitals(self._audience)},
            **{kind: {"fault": fault} for kind, fault in FAULTS.items()},
            **{kind: {"claims": claims_ahead(kind)} for kind in AHEAD},
        }
        tokens = {kind: await self._mint(**changes) for kind, changes in changes_by_kind.items()}
        return {kind: token for kind, token in tokens.items() if token is not None}

    async def _mint(self, **changes: Any) -> str | None:
        order = {
            "subject": "assay-lab-one",
            "audience": self._audience,
            "scopes": list(self._scopes),
            "lifetime": LIFETIME,
            **changes,
        }
        answer = await self._ask("POST", f"{self._issuer}/dev/mint", JSON, msgspec.json.encode(order))
        token = answer.object.get("access_token")
        return token if isinstance(token, str) else None

    async def _request_all(self) -> tuple[dict[str, str], float]:
        first = await self._request(USUAL, self._scopes)
        usual = first.get("access_token")
        if not isinstance(usual, str):
            raise NoToken(f"{self._issuer} issues no token for client credentials: {_error_in(first)}")
        lifetime = first.get("expires_in")
        capitals = in_capitals(self._audience)
        responses = {
            OTHER: await self._request(OTHER, self._scopes) if self._registers else {},
            WEAK: self._if_weak(await self._request(USUAL, self._scopes[:1])),
            FOREIGN: self._if_for(ELSEWHERE, await self._request(USUAL, self._scopes, ELSEWHERE)),
            CAPITALS: self._if_for(capitals, await self._request(USUAL, self._scopes, capitals)),
        }
        tokens = {kind: response.get("access_token") for kind, response in responses.items()}
        others = {kind: token for kind, token in tokens.items() if isinstance(token, str)}
        return {USUAL: usual, **others}, float(lifetime) if isinstance(lifetime, int) else LIFETIME

    def _if_weak(self, response: dict[str, Any]) -> dict[str, Any]:
        """The response if a scope is missing in it: an issuer may grant more scopes than requested."""
        granted = response.get("scope")
        missing = isinstance(granted, str) and not set(self._scopes) <= set(granted.split())
        return response if missing else {}

    def _if_for(self, audience: str, response: dict[str, Any]) -> dict[str, Any]:
        """The response if its token names the audience: an issuer may ignore the requested one."""
        claims = claims_of(str(response.get("access_token"))) or {}
        return response if claims.get("aud") in (audience, [audience]) else {}

    async def _request(self, user: str, scopes: Sequence[str], audience: str | None = None) -> dict[str, Any]:
        client = await self._client(user)
        if client is None:
            return {}
        form = {"grant_type": "client_credentials", "resource": audience or self._audience}
        body = urlencode({**form, **({"scope": " ".join(scopes)} if scopes else {})}).encode()
        pair = f"{quote(client.id, safe='')}:{quote(client.secret, safe='')}".encode()
        basic = f"Basic {base64.b64encode(pair).decode()}"
        return (await self._ask("POST", self._metadata["token_endpoint"], FORM, body, basic)).object

    async def _client(self, user: str) -> ClientCredentials | None:
        if user not in self._clients and self._registers:
            self._clients[user] = await self._register()
        return self._clients.get(user)

    async def _register(self) -> ClientCredentials:
        url = self._metadata.get("registration_endpoint")
        if not isinstance(url, str):
            raise NoToken(f"{self._issuer} has no registration endpoint: use --client-id")
        metadata = {
            "client_name": f"Assay lab {secrets.token_hex(4)}",
            "grant_types": ["client_credentials"],
            "token_endpoint_auth_method": "client_secret_basic",
            "redirect_uris": [],
        }
        response = (await self._ask("POST", url, JSON, msgspec.json.encode(metadata))).object
        match response:
            case {"client_id": str(name), "client_secret": str(secret)}:
                return ClientCredentials(name, secret)
        raise NoToken(f"{self._issuer} registered no client with credentials: {_error_in(response)}")

    async def _ask(
        self,
        method: str,
        url: str,
        kind: str = "",
        body: bytes = b"",
        credentials: str = "",
        identity: Identity = DEFAULT_IDENTITY,
    ) -> Answer:
        headers = {"Accept": JSON, "Content-Type": kind, "Authorization": credentials}
        present = {name: value for name, value in headers.items() if value}
        try:
            return await fetch(method, url, present, body, identity)
        except (BrokenOff, ValueError) as error:
            raise NoToken(f"request to {urlsplit(url).netloc} failed: {error}") from None


def in_capitals(url: str) -> str:
    """The URL with scheme and host in upper case, which is equivalent."""
    parts = urlsplit(url)
    return f"{parts.scheme.upper()}://{parts.netloc.upper()}{parts.path}"


def _error_in(response: Mapping[str, Any]) -> str:
    error = response.get("error")
    return error[:80] if isinstance(error, str) else "unexpected response"
