"""Signed tokens (JWT): parsing, and the keys that verify them."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import msgspec

from assay.model.error import MissingExtra

from .error import bad_token
from .json_object import read_object

try:
    import jwt
except ImportError:
    raise MissingExtra('authorization needs PyJWT and cryptography: pip install "assay-mcp[auth]"') from None

RSA: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
CURVES: Final = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512", "Ed25519": "EdDSA", "Ed448": "EdDSA"}
KEY_TYPES: Final = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
ALGORITHMS: Final = (*RSA, "ES256", "ES384", "ES512", "EdDSA")
"""Asymmetric only. With a shared secret, every verifier could also forge tokens (RFC 8725, 3.1 and 3.2)."""
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
class UnverifiedToken:
    """A parsed token whose signature has not been verified."""

    text: str
    header: dict[str, Any]

    @property
    def algorithm(self) -> str:
        algorithm: str = self.header["alg"]
        return algorithm

    def verified_by(self, key: Key) -> dict[str, Any] | None:
        """The claims, if this key signed the token."""
        try:
            payload = _SIGNATURES.decode(self.text, key.public, algorithms=[self.algorithm])
        except (jwt.PyJWTError, ValueError, TypeError):
            return None
        return read_object(payload)


def parse_token(
    text: str, algorithms: Collection[str], types: Collection[str | None], error: Any = bad_token
) -> UnverifiedToken:
    """
    Raises:
        AuthorizationError: The text is not a JWT, or its algorithm or type is not accepted.
    """
    header = _read_header(text, error)
    if header.get("alg") not in algorithms:
        raise error("the algorithm of the signature is not accepted")
    kind = header.get("typ")
    if not isinstance(kind, str | None) or (kind and kind.lower().removeprefix("application/")) not in types:
        # An explicit type keeps one kind of JWT from being used as another (RFC 8725, 3.11).
        raise error("the token has another type: typ")
    # Extensions marked critical must be understood (RFC 7515, 4.1.11), and b64 changes what is signed.
    if "crit" in header or "b64" in header:
        raise error("the header of the token asks for unsupported extensions: crit, b64")
    if not isinstance(header.get("kid"), str | None):
        raise error("the key id is not a string: kid")
    return UnverifiedToken(text, header)


def looks_like_jwt(text: str) -> bool:
    return text.count(".") == 2


def _read_header(text: str, error: Any) -> dict[str, Any]:
    parts = text.split(".")
    if len(parts) != 3 or not all(parts):
        raise error("the text is not a signed JWT")
    try:
        # All three: base64url is malleable, and another spelling of a signature would be another token.
        first, *_ = [decode64(part) for part in parts]
    except ValueError:
        raise error("the text is not a signed JWT") from None
    header = read_object(first)
    if header is None:
        raise error("the header of the token cannot be read")
    return header


def make_key(jwk: Any) -> Key | None:
    """The key of a key set; `None` if it cannot verify signatures here."""
    if not isinstance(jwk, dict) or SECRET_MEMBERS & jwk.keys():
        return None
    operations = jwk.get("key_ops", ["verify"])
    if jwk.get("use", "sig") != "sig" or not isinstance(operations, list) or "verify" not in operations:
        return None
    algorithms = _algorithms_of(jwk)
    named = jwk.get("alg")
    if named is not None:
        algorithms &= {named} if isinstance(named, str) else frozenset()
    kid = jwk.get("kid")
    if not algorithms or not isinstance(kid, str | None):
        return None
    try:
        public = jwt.PyJWK({**jwk, "alg": min(algorithms)}).key
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
    return (
        None
        if getattr(public, "key_size", RSA_BITS) < RSA_BITS and jwk["kty"] == "RSA"
        else Key(kid, algorithms, public)
    )


def _algorithms_of(jwk: dict[str, Any]) -> frozenset[str]:
    if jwk.get("kty") == "RSA":
        return frozenset(RSA)
    curve = jwk.get("crv")
    algorithm = CURVES.get(curve) if isinstance(curve, str) else None
    return frozenset({algorithm}) if algorithm and KEY_TYPES[algorithm[:2]] == jwk.get("kty") else frozenset()


def thumbprint(jwk: dict[str, Any]) -> str:
    """The key's thumbprint (RFC 7638, 3)."""
    members = {name: jwk[name] for name in PUBLIC_MEMBERS[jwk["kty"]]}
    return encode64(sha256(msgspec.json.encode(members, order="sorted")).digest())


def encode64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decode64(text: str) -> bytes:
    """
    Raises:
        ValueError: The text is not unpadded base64url.
    """
    data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encode64(data) != text:
        raise ValueError("not base64url")
    return data
