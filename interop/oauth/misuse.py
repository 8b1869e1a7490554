"""What the SDK does not do with secrets: tokens that are bound to a key, and every secret in a wrong place.

Whoever refuses something is tempted to repeat it. So each secret is sent where it is refused, and nobody may
have written it down.
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

from interop.oauth.scene import ROBOT, Key, Scene

CALLBACK = "http://127.0.0.1:9/callback"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
VERIFIER = "interop-verifier-of-a-client-that-makes-mistakes"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
Answer = httpx2.Response


@dataclass
class Purse:
    """A client with one of each secret."""

    http: httpx2.AsyncClient
    scene: Scene
    key: Key
    token: str = ""
    bound: str = ""
    refresh: str = ""

    @property
    def robot(self) -> tuple[str, str]:
        return ROBOT, self.scene.robot_secret

    async def post(self, place: str, form: Mapping[str, str], **options: Any) -> Answer:
        return await self.http.post(f"{self.scene.issuer}{place}", data=dict(form), **options)

    async def ping(self, *headers: tuple[str, str], query: str = "") -> Answer:
        """Ask the protected server something small, with these headers."""
        accept = ("accept", "application/json, text/event-stream")
        return await self.http.post(self.scene.reference + query, json=PING, headers=[accept, *headers])

    async def code(self) -> str:
        challenge = base64url(hashlib.sha256(VERIFIER.encode()).digest())
        asked = {
            "response_type": "code",
            "client_id": ROBOT,
            "redirect_uri": CALLBACK,
            "scope": "use",
            "resource": self.scene.reference,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        answer = await self.http.get(f"{self.scene.issuer}/authorize", params=asked)
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
        return ("authorization", f"DPoP {token}"), ("dpop", self.proof("POST", self.scene.reference, token))


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@asynccontextmanager
async def filled(scene: Scene) -> AsyncIterator[Purse]:
    async with httpx2.AsyncClient(follow_redirects=False) as http:
        purse = Purse(http, scene, Key())
        given = (await purse.exchange(await purse.code())).json()
        purse.token, purse.refresh = given["access_token"], given["refresh_token"]
        proof = {"dpop": purse.proof("POST", f"{scene.issuer}/token")}
        purse.bound = (await purse.exchange(await purse.code(), headers=proof)).json()["access_token"]
        yield purse


async def bound_token(purse: Purse) -> list[Answer]:
    """With its proof, then with the same proof again, and without one."""
    headers = purse.proven(purse.bound)
    good = await purse.ping(*headers)
    good.raise_for_status()
    bare = await purse.ping(("authorization", f"Bearer {purse.bound}"))
    return [await purse.ping(*headers), bare]


async def wrong_places(purse: Purse) -> list[Answer]:
    bearer = ("authorization", f"Bearer {purse.token}")
    return [
        await purse.ping(query=f"?access_token={purse.token}"),
        await purse.ping(bearer, bearer),
        await purse.ping(bearer, query=f"?access_token={purse.token}"),
        await purse.ping(("authorization", f"Bearer {purse.token}x")),
        await purse.ping(("authorization", f"Bearer {purse.refresh}")),
        await purse.ping(("authorization", f"Bearer{purse.token} {purse.refresh}")),
        await purse.ping(("authorization", f"DPoP {purse.token}")),
        await purse.http.get(f"{purse.scene.issuer}/token", params={"refresh_token": purse.refresh}),
        await purse.http.get(f"{purse.scene.issuer}/{purse.refresh}"),
    ]


async def codes(purse: Purse) -> list[Answer]:
    """With a verifier of another, twice, and by a client that has another secret."""
    other, twice, third = await purse.code(), await purse.code(), await purse.code()
    (await purse.exchange(twice)).raise_for_status()
    return [
        await purse.exchange(other, f"{VERIFIER}-of-another"),
        await purse.exchange(twice),
        await purse.exchange(third, auth=(ROBOT, f"{purse.scene.robot_secret}-of-another")),
    ]


async def wrong_forms(purse: Purse) -> list[Answer]:
    scene = purse.scene
    refresh = {"grant_type": "refresh_token", "refresh_token": purse.refresh}
    secret = {"client_id": ROBOT, "client_secret": scene.robot_secret}
    claims = {"iss": scene.keyed, "sub": scene.keyed, "aud": "https://elsewhere.example", "jti": uuid4().hex}
    expired = jwt.encode({**claims, "exp": int(time.time()) - 900}, scene.key.pem, algorithm="ES256")
    asserted = {"client_assertion_type": ASSERTION, "client_assertion": expired}
    return [
        await purse.post("/token", {**refresh, "refresh_token": f"{purse.refresh}x"}, auth=purse.robot),
        await purse.post("/token", {**refresh, "scope": "write"}, auth=purse.robot),
        await purse.post("/token", {**refresh, **secret}, auth=purse.robot),
        await purse.post("/token", {"grant_type": purse.refresh, **secret}),
        await purse.post("/token", {"grant_type": "client_credentials", "scope": purse.token, **secret}),
        await purse.post("/token", {"grant_type": "client_credentials", **asserted}),
        await purse.post("/introspect", {"token": purse.token}),
        await purse.post("/revoke", {"token": purse.refresh}),
        await purse.http.post(
            f"{scene.issuer}/register", content=f'{{"client_secret": "{scene.robot_secret}"'
        ),
        await purse.http.post(f"{scene.issuer}/register", json={"redirect_uris": [purse.refresh]}),
    ]


MISUSES: tuple[Callable[[Purse], Any], ...] = (bound_token, wrong_places, codes, wrong_forms)


async def misuse(scene: Scene) -> tuple[int, list[str], Key]:
    """Do all of it; how many were refused, which were not, and the key that was used."""
    refused, taken = 0, []
    async with filled(scene) as purse:
        for deed in MISUSES:
            for number, answer in enumerate(await deed(purse), 1):
                if 400 <= answer.status_code < 500:
                    refused += 1
                else:
                    taken.append(f"{deed.__name__} {number}: {answer.status_code}")
    return refused, taken, purse.key
