"""Signed tokens (JWT): taking them apart, and what may have signed them."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import msgspec

from assay.model.error import MissingExtra

from .denial import bad_token
from .json_object import read_object

try:
    import jwt
except ImportError:
    raise MissingExtra('authorization needs PyJWT and cryptography: pip install "assay-mcp[auth]"') from None

RSA: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
CURVES: Final = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512", "Ed25519": "EdDSA", "Ed448": "EdDSA"}
KEY_TYPES: Final = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
ALGORITHMS: Final = (*RSA, "ES256", "ES384", "ES512", "EdDSA")
"""Those that need a private key to sign. With any other, whoever can check a token could also make one."""
RSA_BITS: Final = 2048
SECRET_MEMBERS: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
PUBLIC_MEMBERS: Final = {"RSA": ("e", "kty", "n"), "EC": ("crv", "kty", "x", "y"), "OKP": ("crv", "kty", "x")}

_SIGNATURES: Final = jwt.PyJWS(list(ALGORITHMS))


@dataclass(frozen=True, slots=True)
class Key:
    """A public key, and the algorithms that it may be used with."""

    kid: str | None
    algorithms: frozenset[str]
    public: Any

    def fits(self, kid: str | None, algorithm: str) -> bool:
        return algorithm in self.algorithms and kid in (None, self.kid)


@dataclass(frozen=True, slots=True)
class Signed:
    """A token that nobody has verified yet."""

    text: str
    header: dict[str, Any]

    @property
    def algorithm(self) -> str:
        found: str = self.header["alg"]
        return found

    def verified_by(self, key: Key) -> dict[str, Any] | None:
        """What the token claims, if this key has signed it."""
        try:
            payload = _SIGNATURES.decode(self.text, key.public, algorithms=[self.algorithm])
        except (jwt.PyJWTError, ValueError, TypeError):
            return None
        return read_object(payload)


def take_apart(
    text: str, algorithms: Collection[str], types: Collection[str | None], denied: Any = bad_token
) -> Signed:
    """
    Raises:
        Denied: it is no signed token, or not of these algorithms and types.
    """
    header = _read_header(text, denied)
    if header.get("alg") not in algorithms:
        raise denied("it is signed by an algorithm that does not count here")
    kind = header.get("typ")
    if not isinstance(kind, str | None) or (kind and kind.lower().removeprefix("application/")) not in types:
        raise denied("it is of another type")
    # What must be understood, or changes what is signed, is not: there is nothing of the kind here.
    if "crit" in header or "b64" in header:
        raise denied("its header asks for more than is offered here")
    if not isinstance(header.get("kid"), str | None):
        raise denied("its key has no proper name")
    return Signed(text, header)


def looks_signed(text: str) -> bool:
    return text.count(".") == 2


def _read_header(text: str, denied: Any) -> dict[str, Any]:
    parts = text.split(".")
    if len(parts) != 3 or not all(parts):
        raise denied("it is no signed token")
    try:
        # All of them: another way to write the same signature would make another token of it.
        first, *_ = [decode64(part) for part in parts]
    except ValueError:
        raise denied("it is no signed token") from None
    header = read_object(first)
    if header is None:
        raise denied("its header cannot be read")
    return header


def make_key(jwk: Any) -> Key | None:
    """A key of a key set; none if it is not one that signatures could be checked by."""
    if not isinstance(jwk, dict) or SECRET_MEMBERS & jwk.keys():
        return None
    operations = jwk.get("key_ops", ["verify"])
    if jwk.get("use", "sig") != "sig" or not isinstance(operations, list) or "verify" not in operations:
        return None
    fitting = _algorithms_of(jwk)
    named = jwk.get("alg")
    if named is not None:
        fitting &= {named} if isinstance(named, str) else frozenset()
    kid = jwk.get("kid")
    if not fitting or not isinstance(kid, str | None):
        return None
    try:
        public = jwt.PyJWK({**jwk, "alg": min(fitting)}).key
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
    return (
        None
        if getattr(public, "key_size", RSA_BITS) < RSA_BITS and jwk["kty"] == "RSA"
        else Key(kid, fitting, public)
    )


def _algorithms_of(jwk: dict[str, Any]) -> frozenset[str]:
    if jwk.get("kty") == "RSA":
        return frozenset(RSA)
    curve = jwk.get("crv")
    found = CURVES.get(curve) if isinstance(curve, str) else None
    return frozenset({found}) if found and KEY_TYPES[found[:2]] == jwk.get("kty") else frozenset()


def thumbprint(jwk: dict[str, Any]) -> str:
    """What names a key by itself (RFC 7638)."""
    members = {name: jwk[name] for name in PUBLIC_MEMBERS[jwk["kty"]]}
    return encode64(sha256(msgspec.json.encode(members, order="sorted")).digest())


def encode64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decode64(text: str) -> bytes:
    """
    Raises:
        ValueError: it is not base64 as URLs have it, without padding.
    """
    data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encode64(data) != text:
        raise ValueError("not base64url")
    return data
