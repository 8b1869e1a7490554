"""A client of the authority with a manual clock: each step of an OAuth flow is one call."""

from __future__ import annotations

import base64
import hashlib
import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import jwt

from assay.authority.app import AuthorityApp
from assay.authority.authority import Authority
from assay.authority.fetch import Fetch
from assay.authority.keys import SigningKey, new_key
from assay.authority.record import GRANTS, SECRET_METHODS, Client, digest
from assay.authority.settings import Settings
from assay.authority.store import Store

ISSUER = "http://127.0.0.1:9000"
RESOURCE = "http://127.0.0.1:3000/mcp"
REDIRECT = "http://127.0.0.1:1234/callback"
VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
PUBLIC = Client(
    id="public", name="Public", redirects=(REDIRECT,), grants=("authorization_code", "refresh_token")
)
CONFIDENTIAL = Client(
    id="confidential",
    secret=digest("s3cret"),
    methods=SECRET_METHODS,
    redirects=(REDIRECT,),
    grants=GRANTS,
    trusted=True,
)


class ManualClock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


class OAuthFlow:
    """An in-process authority and a client."""

    def __init__(self, *, store: Store | None = None, fetch: Fetch | None = None, **settings: Any) -> None:
        self.clock = ManualClock()
        options = {"issuer": ISSUER, "clients": (PUBLIC, CONFIDENTIAL), "auto_approve": True, **settings}
        self.authority = Authority(Settings(**options), store=store, now=self.clock, fetch=fetch)
        transport = httpx2.ASGITransport(AuthorityApp(self.authority), client=("127.0.0.1", 50_000))
        origin = urlsplit(options["issuer"])
        self.http = httpx2.AsyncClient(transport=transport, base_url=f"{origin.scheme}://{origin.netloc}")

    def url(self, place: str) -> str:
        return self.authority.settings.url(place)

    async def authorize(self, **changes: Any) -> httpx2.Response:
        """Send the authorization request of the public client; `None` removes a parameter."""
        return await self.http.get(self.url("/authorize"), params=self.request(**changes))

    def request(self, **changes: Any) -> dict[str, Any]:
        parameters = {
            "response_type": "code",
            "client_id": "public",
            "redirect_uri": REDIRECT,
            "scope": "read",
            "state": "state-1",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "resource": RESOURCE,
            **changes,
        }
        return present(parameters)

    async def code(self, **changes: Any) -> str:
        return answered(await self.authorize(**changes))["code"]

    async def token(self, *, headers: dict[str, str] | None = None, **form: Any) -> httpx2.Response:
        return await self.http.post(self.url("/token"), data=present(form), headers=headers)

    async def exchange(self, code: str, **changes: Any) -> httpx2.Response:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": "public",
            "redirect_uri": REDIRECT,
            "code_verifier": VERIFIER,
            **changes,
        }
        return await self.token(**form)

    async def refresh(self, token: str, **changes: Any) -> httpx2.Response:
        form = {"grant_type": "refresh_token", "refresh_token": token, "client_id": "public", **changes}
        return await self.token(**form)

    async def tokens(self, **changes: Any) -> dict[str, Any]:
        """The tokens of a new consent."""
        response = await self.exchange(await self.code(**changes))
        assert response.status_code == 200, response.text
        tokens: dict[str, Any] = response.json()
        return tokens

    async def introspect(self, token: str) -> dict[str, Any]:
        response = await self.http.post(
            self.url("/introspect"), data={"token": token}, auth=("confidential", "s3cret")
        )
        assert response.status_code == 200, response.text
        claims: dict[str, Any] = response.json()
        return claims

    def claims(self, token: str, **options: Any) -> dict[str, Any]:
        """The claims of a token that a resource server would accept.

        Raises:
            jwt.PyJWTError: A resource server would refuse the token.
        """
        keys = jwt.PyJWKSet.from_dict(self.authority.jwks())
        key = keys[jwt.get_unverified_header(token)["kid"]]
        checks: Any = {
            "verify_exp": False,
            "verify_iat": False,
            "verify_nbf": False,
            "require": ["exp", "sub"],
        }
        expected = {"audience": RESOURCE, "issuer": self.authority.issuer, **options}
        claims = jwt.decode(token, key, algorithms=["ES256"], options=checks, **expected)
        if not claims["iat"] <= self.clock() < claims["exp"] or claims.get("nbf", 0) > self.clock():
            raise jwt.ExpiredSignatureError("not valid now")
        return claims


def present(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}


def answered(response: httpx2.Response) -> dict[str, str]:
    """The parameters of the redirect back to the client."""
    assert response.status_code == 303, response.text
    query = parse_qs(urlsplit(response.headers["location"]).query, keep_blank_values=True)
    assert all(len(values) == 1 for values in query.values())
    return {name: values[0] for name, values in query.items()}


def error_of(response: httpx2.Response) -> str:
    return f"{response.status_code} {response.json()['error']}"


def inputs_of(page: str) -> list[tuple[str, str]]:
    """The fields of the form on a page, as a browser would send them."""
    return [
        (unescape(name), unescape(value))
        for name, value in re.findall(r'<input type="\w+" name="([^"]*)" value="([^"]*)"(?: checked)?>', page)
    ]


def proof(key: SigningKey | None = None, **changes: Any) -> str:
    """A DPoP proof for the token endpoint; `header` changes its header."""
    signer = key or new_key("ES256")
    header = {"typ": "dpop+jwt", "jwk": signer.jwk(), **changes.pop("header", {})}
    algorithm = changes.pop("algorithm", signer.algorithm)
    claims = {"jti": "1", "htm": "POST", "htu": f"{ISSUER}/token", "iat": 1_800_000_000, **changes}
    return jwt.encode(present(claims), changes.pop("key", signer.private), algorithm, headers=present(header))
