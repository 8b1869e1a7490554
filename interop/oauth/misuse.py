"""Misuse of secrets that the SDK does not do: bound tokens, and every secret in a wrong place.

Error messages tend to repeat what they refuse. So each secret is sent to places that refuse it, and must not
appear in anything that was written.
"""

import base64
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import httpx2
import jwt

from interop.oauth.environment import ROBOT, Key, OAuthEnvironment

CALLBACK = "http://127.0.0.1:9/callback"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
VERIFIER = "interop-verifier-of-a-client-that-makes-mistakes"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
Answer = httpx2.Response


@dataclass
class Credentials:
    """A client with one secret of each kind."""

    http: httpx2.AsyncClient
    environment: OAuthEnvironment
    key: Key
    token: str = ""
    bound: str = ""
    refresh: str = ""

    @property
    def robot(self) -> tuple[str, str]:
        return ROBOT, self.environment.robot_secret

    async def post(self, place: str, form: Mapping[str, str], **options: Any) -> Answer:
        return await self.http.post(f"{self.environment.issuer}{place}", data=dict(form), **options)

    async def ping(self, *headers: tuple[str, str], query: str = "") -> Answer:
        """Send a ping with these headers to the protected server."""
        accept = ("accept", "application/json, text/event-stream")
        return await self.http.post(self.environment.reference + query, json=PING, headers=[accept, *headers])

    async def code(self) -> str:
        challenge = base64url(hashlib.sha256(VERIFIER.encode()).digest())
        query = {
            "response_type": "code",
            "client_id": ROBOT,
            "redirect_uri": CALLBACK,
            "scope": "use",
            "resource": self.environment.reference,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        answer = await self.http.get(f"{self.environment.issuer}/authorize", params=query)
        return parse_qs(urlsplit(answer.headers["location"]).query)["code"][0]

    async def exchange(self, code: str, verifier: str = VERIFIER, **options: Any) -> Answer:
        form = {"grant_type": "authorization_code", "code": code, "code_verifier": verifier}
        return await self.post(
            "/token", {**form, "redirect_uri": CALLBACK}, **{"auth": self.robot, **options}
        )

    def proof(self, method: str, url: str, token: str = "") -> str:
        claims: dict[str, Any] = {"jti": uuid4().hex, "htm": method, "htu": url, "iat": int(time.time())}
        if token:
            claims["ath"] = base64url(hashlib.sha256(token.encode()).digest())
        header = {"typ": "dpop+jwt", "jwk": self.key.public}
        return jwt.encode(claims, self.key.pem, algorithm="ES256", headers=header)

    def proven(self, token: str) -> tuple[tuple[str, str], tuple[str, str]]:
        return ("authorization", f"DPoP {token}"), (
            "dpop",
            self.proof("POST", self.environment.reference, token),
        )


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@asynccontextmanager
async def obtain_credentials(environment: OAuthEnvironment) -> AsyncIterator[Credentials]:
    async with httpx2.AsyncClient(follow_redirects=False) as http:
        credentials = Credentials(http, environment, Key())
        answer = (await credentials.exchange(await credentials.code())).json()
        credentials.token, credentials.refresh = answer["access_token"], answer["refresh_token"]
        proof = {"dpop": credentials.proof("POST", f"{environment.issuer}/token")}
        credentials.bound = (await credentials.exchange(await credentials.code(), headers=proof)).json()[
            "access_token"
        ]
        yield credentials


async def bound_token(credentials: Credentials) -> list[Answer]:
    """Use it with its proof, with the same proof again, and without one."""
    headers = credentials.proven(credentials.bound)
    good = await credentials.ping(*headers)
    good.raise_for_status()
    bare = await credentials.ping(("authorization", f"Bearer {credentials.bound}"))
    return [await credentials.ping(*headers), bare]


async def wrong_places(credentials: Credentials) -> list[Answer]:
    bearer = ("authorization", f"Bearer {credentials.token}")
    return [
        await credentials.ping(query=f"?access_token={credentials.token}"),
        await credentials.ping(bearer, bearer),
        await credentials.ping(bearer, query=f"?access_token={credentials.token}"),
        await credentials.ping(("authorization", f"Bearer {credentials.token}x")),
        await credentials.ping(("authorization", f"Bearer {credentials.refresh}")),
        await credentials.ping(("authorization", f"Bearer{credentials.token} {credentials.refresh}")),
        await credentials.ping(("authorization", f"DPoP {credentials.token}")),
        await credentials.http.get(
            f"{credentials.environment.issuer}/token", params={"refresh_token": credentials.refresh}
        ),
        await credentials.http.get(f"{credentials.environment.issuer}/{credentials.refresh}"),
    ]


async def codes(credentials: Credentials) -> list[Answer]:
    """Exchange one with another verifier, one twice, and one with another client secret."""
    other, twice, third = await credentials.code(), await credentials.code(), await credentials.code()
    (await credentials.exchange(twice)).raise_for_status()
    return [
        await credentials.exchange(other, f"{VERIFIER}-of-another"),
        await credentials.exchange(twice),
        await credentials.exchange(third, auth=(ROBOT, f"{credentials.environment.robot_secret}-of-another")),
    ]


async def wrong_forms(credentials: Credentials) -> list[Answer]:
    environment = credentials.environment
    refresh = {"grant_type": "refresh_token", "refresh_token": credentials.refresh}
    secret = {"client_id": ROBOT, "client_secret": environment.robot_secret}
    claims = {
        "iss": environment.keyed,
        "sub": environment.keyed,
        "aud": "https://elsewhere.example",
        "jti": uuid4().hex,
    }
    expired = jwt.encode({**claims, "exp": int(time.time()) - 900}, environment.key.pem, algorithm="ES256")
    asserted = {"client_assertion_type": ASSERTION, "client_assertion": expired}
    return [
        await credentials.post(
            "/token", {**refresh, "refresh_token": f"{credentials.refresh}x"}, auth=credentials.robot
        ),
        await credentials.post("/token", {**refresh, "scope": "write"}, auth=credentials.robot),
        await credentials.post("/token", {**refresh, **secret}, auth=credentials.robot),
        await credentials.post("/token", {"grant_type": credentials.refresh, **secret}),
        await credentials.post(
            "/token", {"grant_type": "client_credentials", "scope": credentials.token, **secret}
        ),
        await credentials.post("/token", {"grant_type": "client_credentials", **asserted}),
        await credentials.post("/introspect", {"token": credentials.token}),
        await credentials.post("/revoke", {"token": credentials.refresh}),
        await credentials.http.post(
            f"{environment.issuer}/register", content=f'{{"client_secret": "{environment.robot_secret}"'
        ),
        await credentials.http.post(
            f"{environment.issuer}/register", json={"redirect_uris": [credentials.refresh]}
        ),
    ]


MISUSES: tuple[Callable[[Credentials], Any], ...] = (bound_token, wrong_places, codes, wrong_forms)


async def misuse(environment: OAuthEnvironment) -> tuple[int, list[str], Key]:
    """Try everything; return the number of refusals, what was accepted, and the key."""
    refused, accepted = 0, []
    async with obtain_credentials(environment) as credentials:
        for attempt in MISUSES:
            for number, answer in enumerate(await attempt(credentials), 1):
                if 400 <= answer.status_code < 500:
                    refused += 1
                else:
                    accepted.append(f"{attempt.__name__} {number}: {answer.status_code}")
    return refused, accepted, credentials.key
