"""Tokens from an authorization server: by client credentials, and from one for development by asking for any.

Whatever goes wrong is told without a token or a secret in it.
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
from assay.lab.harness.links.http_request import Answer, ask
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.links.identity import ANYBODY, Identity
from assay.lab.harness.trace.resource_metadata import WELL_KNOWN

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
"""In the metadata of `assay authority`, which gives out any token if it was started with --dev-mint."""
ELSEWHERE: Final = "https://elsewhere.example/mcp"
FORM: Final = "application/x-www-form-urlencoded"
LIFETIME: Final = 300.0
"""Seconds that a token is good for where its issuer does not say."""
# What is minted, besides the honest ones.
FAULTS: Final = {
    EXPIRED: "expired-token",
    FOREIGN: "token-wrong-audience",
    OTHER_ISSUER: "token-wrong-issuer",
    STRANGER: "stranger-key",
}


class Customer(Struct, frozen=True):
    """A client of the authorization server; each is a user of its own."""

    id: str
    secret: str


class TokenSource:
    def __init__(
        self,
        issuer: str,
        audience: str,
        customer: Customer | None = None,
        scopes: Sequence[str] = (),
        identity: Identity = ANYBODY,
    ) -> None:
        """Without a customer, the lab registers as one, and as another. `identity` is for the server that
        tokens are for, and not for their issuer."""
        self._issuer = issuer.rstrip("/")
        self._audience = audience
        self._customers: dict[str, Customer] = {} if customer is None else {USUAL: customer}
        self._registers = customer is None
        self._scopes = tuple(scopes)
        self._identity = identity
        self._told: dict[str, Any] = {}
        self._mints = False

    async def fetch(self) -> tuple[Mapping[str, str], float]:
        """Tokens of as many kinds as can be had, and for how many seconds they are good.

        Raises:
            NoToken: there is not even a usual one.
        """
        if not self._told:
            self._told = await self._metadata()
            self._scopes = self._scopes or await self._scopes_of_resource()
            self._mints = bool(self._told.get(DEVELOPMENT)) and await self._minted() is not None
        return (await self._all_minted(), LIFETIME) if self._mints else await self._all_granted()

    async def grant(self, scopes: Sequence[str]) -> str | None:
        """A token of the usual user with just these scopes."""
        if self._mints:
            return await self._minted(scopes=list(scopes))
        found = await self._granted(USUAL, scopes)
        token = found.get("access_token")
        return token if isinstance(token, str) else None

    async def mint(self, kind: str) -> str | None:
        """A new token of the usual user that becomes good after a while."""
        return await self._minted(claims=claims_ahead(kind)) if self._mints else None

    async def _metadata(self) -> dict[str, Any]:
        parts = urlsplit(self._issuer)
        base = f"{parts.scheme}://{parts.netloc}"
        for place in (
            f"{base}/.well-known/oauth-authorization-server{parts.path}",
            f"{base}/.well-known/openid-configuration{parts.path}",
            f"{self._issuer}/.well-known/openid-configuration",
        ):
            told = (await self._ask("GET", place)).object
            if isinstance(told.get("token_endpoint"), str):
                return told
        raise NoToken(f"no metadata of an authorization server at {self._issuer}")

    async def _scopes_of_resource(self) -> tuple[str, ...]:
        """What the server itself says that there is."""
        parts = urlsplit(self._audience)
        place = f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}{parts.path.rstrip('/')}"
        answer = await self._ask("GET", place, identity=self._identity)
        named = answer.object.get("scopes_supported")
        return tuple(map(str, named)) if isinstance(named, list) else ()

    async def _all_minted(self) -> dict[str, str]:
        upper = in_capitals(self._audience)
        wanted: dict[str, dict[str, Any]] = {
            USUAL: {},
            OTHER: {"subject": "assay-lab-two"},
            **({WEAK: {"scopes": []}} if self._scopes else {}),
            CAPITALS: {"audience": upper},
            **{kind: {"fault": fault} for kind, fault in FAULTS.items()},
            **{kind: {"claims": claims_ahead(kind)} for kind in AHEAD},
        }
        found = {kind: await self._minted(**changes) for kind, changes in wanted.items()}
        return {kind: token for kind, token in found.items() if token is not None}

    async def _minted(self, **changes: Any) -> str | None:
        wish = {
            "subject": "assay-lab-one",
            "audience": self._audience,
            "scopes": list(self._scopes),
            "lifetime": LIFETIME,
            **changes,
        }
        answer = await self._ask("POST", f"{self._issuer}/dev/mint", JSON, msgspec.json.encode(wish))
        token = answer.object.get("access_token")
        return token if isinstance(token, str) else None

    async def _all_granted(self) -> tuple[dict[str, str], float]:
        first = await self._granted(USUAL, self._scopes)
        usual = first.get("access_token")
        if not isinstance(usual, str):
            raise NoToken(f"{self._issuer} gives out no token by client credentials: {_why(first)}")
        lasting = first.get("expires_in")
        others = {
            OTHER: await self._granted(OTHER, self._scopes) if self._registers else {},
            WEAK: self._if_weak(await self._granted(USUAL, self._scopes[:1])),
            FOREIGN: self._if_for(ELSEWHERE, await self._granted(USUAL, self._scopes, ELSEWHERE)),
            CAPITALS: self._if_for(in_capitals(self._audience), await self._in_capitals()),
        }
        found = {kind: answer.get("access_token") for kind, answer in others.items()}
        good = {kind: token for kind, token in found.items() if isinstance(token, str)}
        return {USUAL: usual, **good}, float(lasting) if isinstance(lasting, int) else LIFETIME

    async def _in_capitals(self) -> dict[str, Any]:
        return await self._granted(USUAL, self._scopes, in_capitals(self._audience))

    def _if_weak(self, answer: dict[str, Any]) -> dict[str, Any]:
        """An issuer may grant other scopes than it was asked for: what has all of them is not weak."""
        granted = answer.get("scope")
        missing = isinstance(granted, str) and not set(self._scopes) <= set(granted.split())
        return answer if missing else {}

    def _if_for(self, audience: str, answer: dict[str, Any]) -> dict[str, Any]:
        """An issuer may not know of audiences: what does not say that it is for another, may not be."""
        claims = claims_of(str(answer.get("access_token"))) or {}
        named = claims.get("aud")
        return answer if named in (audience, [audience]) else {}

    async def _granted(self, user: str, scopes: Sequence[str], audience: str | None = None) -> dict[str, Any]:
        customer = await self._customer(user)
        if customer is None:
            return {}
        form = {"grant_type": "client_credentials", "resource": audience or self._audience}
        body = urlencode({**form, **({"scope": " ".join(scopes)} if scopes else {})}).encode()
        known = f"{quote(customer.id, safe='')}:{quote(customer.secret, safe='')}".encode()
        basic = f"Basic {base64.b64encode(known).decode()}"
        return (await self._ask("POST", self._told["token_endpoint"], FORM, body, basic)).object

    async def _customer(self, user: str) -> Customer | None:
        if user not in self._customers and self._registers:
            self._customers[user] = await self._registered()
        return self._customers.get(user)

    async def _registered(self) -> Customer:
        place = self._told.get("registration_endpoint")
        if not isinstance(place, str):
            raise NoToken(f"{self._issuer} registers nobody: give --client-id")
        wish = {
            "client_name": f"Assay lab {secrets.token_hex(4)}",
            "grant_types": ["client_credentials"],
            "token_endpoint_auth_method": "client_secret_basic",
            "redirect_uris": [],
        }
        said = (await self._ask("POST", place, JSON, msgspec.json.encode(wish))).object
        match said:
            case {"client_id": str(name), "client_secret": str(secret)}:
                return Customer(name, secret)
        raise NoToken(f"{self._issuer} does not register a client with credentials: {_why(said)}")

    async def _ask(
        self,
        method: str,
        url: str,
        kind: str = "",
        body: bytes = b"",
        credentials: str = "",
        identity: Identity = ANYBODY,
    ) -> Answer:
        headers = {"Accept": JSON, "Content-Type": kind, "Authorization": credentials}
        shown = {name: value for name, value in headers.items() if value}
        try:
            return await ask(method, url, shown, body, identity)
        except (BrokenOff, ValueError) as error:
            raise NoToken(f"cannot ask {urlsplit(url).netloc}: {error}") from None


def in_capitals(url: str) -> str:
    """With scheme and host in capitals, which means the same."""
    parts = urlsplit(url)
    return f"{parts.scheme.upper()}://{parts.netloc.upper()}{parts.path}"


def _why(answer: Mapping[str, Any]) -> str:
    error = answer.get("error")
    return error[:80] if isinstance(error, str) else "its answer is no token"
