"""A token issuer on a free port, with real keys, signatures and a key set to fetch."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any
from urllib.parse import parse_qs, unquote_plus
from uuid import uuid4

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from tests.driving.hosts import on_assay

RESOURCE = "http://localhost:3000/mcp"
GZIP = b"\x1f\x8b"
CLIENT = ("resource:server", "s3cret/+ä")


@cache
def rsa_key(name: str = "first", bits: int = 2048) -> rsa.RSAPrivateKey:
    """Cached, because generating a key is slow."""
    return rsa.generate_private_key(65537, bits)


@cache
def ec_key(name: str = "first") -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@cache
def ed_key(name: str = "first") -> ed25519.Ed25519PrivateKey:
    return ed25519.Ed25519PrivateKey.generate()


def public_jwk(key: Any, **more: Any) -> dict[str, Any]:
    public = key.public_key()
    kinds: dict[type, Any] = {
        rsa.RSAPrivateKey: RSAAlgorithm,
        ec.EllipticCurvePrivateKey: ECAlgorithm,
        ed25519.Ed25519PrivateKey: OKPAlgorithm,
    }
    kind = next(made_by for of, made_by in kinds.items() if isinstance(key, of))
    return {**json.loads(kind.to_jwk(public)), **more}


def private_jwk(key: ec.EllipticCurvePrivateKey, **more: Any) -> dict[str, Any]:
    return {**json.loads(ECAlgorithm.to_jwk(key)), **more}


def encoded(value: Any) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def digest(text: str) -> str:
    return encoded(hashlib.sha256(text.encode()).digest())


def thumbprint(key: Any) -> str:
    names = {"RSA": ("e", "kty", "n"), "EC": ("crv", "kty", "x", "y"), "OKP": ("crv", "kty", "x")}
    jwk = public_jwk(key)
    chosen = {name: jwk[name] for name in sorted(names[jwk["kty"]])}
    return digest(json.dumps(chosen, separators=(",", ":")))


class Issuer:
    """Signs with ES256 by default. `keys` is its key set; `requests` counts the requests that it answered."""

    def __init__(self) -> None:
        self.url = ""
        self.keys: list[dict[str, Any]] = [
            public_jwk(ec_key(), kid="ec", use="sig"),
            public_jwk(rsa_key(), kid="rsa", use="sig"),
        ]
        self.opaque: dict[str, dict[str, Any]] = {}
        """Opaque tokens and their introspection responses."""
        self.status = 200
        self.answer: bytes | None = None
        """Sent in place of every document."""
        self.requests = 0
        self.introspected: list[dict[str, str]] = []

    @property
    def jwks(self) -> str:
        return f"{self.url}/jwks"

    def claims(self, **changed: Any) -> dict[str, Any]:
        """The claims of a valid token; those set to `...` are left out."""
        now = int(time.time())
        usual = {"iss": self.url, "aud": RESOURCE, "sub": "ann", "iat": now, "exp": now + 300, "scope": "use"}
        return {name: value for name, value in {**usual, **changed}.items() if value is not ...}

    def mint(self, *, key: Any = None, header: dict[str, Any] | None = None, **changed: Any) -> str:
        key = ec_key() if key is None else key
        names = {"alg": "ES256", "kid": "ec", "typ": "at+jwt", **(header or {})}
        names = {name: value for name, value in names.items() if value is not ...}
        return signed(names, self.claims(**changed), key)

    async def close(self) -> None:
        pass

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.requests += 1
        body = (await receive())["body"] if scope["method"] == "POST" else b""
        body = json.dumps(self._document(scope, body)).encode() if self.answer is None else self.answer
        headers = [(b"content-type", b"application/json")]
        if body.startswith(GZIP):
            headers.append((b"content-encoding", b"gzip"))
        if self.status in (301, 307):
            headers.append((b"location", f"{self.url}/elsewhere".encode()))
        status = self.status if self.status != 200 or body != b"null" else 404
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _document(self, scope: Any, body: bytes) -> Any:
        if scope["path"] == "/introspect":
            return self._introspect(dict(scope["headers"]), body)
        return {
            "/jwks": {"keys": self.keys},
            "/elsewhere": {"keys": self.keys},
            "/.well-known/openid-configuration": {"issuer": self.url, "jwks_uri": self.jwks},
        }.get(scope["path"])

    def _introspect(self, headers: dict[bytes, bytes], body: bytes) -> dict[str, Any]:
        kind, _, word = headers[b"authorization"].decode().partition(" ")
        client = tuple(map(unquote_plus, base64.b64decode(word).decode().split(":")))
        assert (kind, client) == ("Basic", CLIENT)
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        self.introspected.append(form)
        return self.opaque.get(form["token"], {"active": False})


@asynccontextmanager
async def serve_issuer() -> AsyncIterator[Issuer]:
    issuer = Issuer()
    async with on_assay(issuer) as port:
        issuer.url = f"http://127.0.0.1:{port}"
        yield issuer


def signed(header: dict[str, Any], claims: Any, key: Any) -> str:
    """A token with any header, even one that a library refuses to write."""
    start = f"{encoded(header)}.{encoded(claims)}"
    algorithm = jwt.get_algorithm_by_name(header["alg"])
    return f"{start}.{encoded(algorithm.sign(start.encode(), algorithm.prepare_key(key)))}"


def proof(token: str, *, key: Any = None, header: dict[str, Any] | None = None, **changed: Any) -> str:
    """A proof for a POST to the endpoint; claims set to `...` are left out."""
    key = ec_key("holder") if key is None else key
    usual = {
        "jti": str(uuid4()),
        "htm": "POST",
        "htu": RESOURCE,
        "iat": int(time.time()),
        "ath": digest(token),
    }
    claims = {name: value for name, value in {**usual, **changed}.items() if value is not ...}
    names = {"typ": "dpop+jwt", "alg": "ES256", "jwk": public_jwk(key), **(header or {})}
    return signed({name: value for name, value in names.items() if value is not ...}, claims, key)
