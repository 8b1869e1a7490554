"""Private keys: for assertions of a client, and for DPoP proofs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from assay.model.error import MissingExtra

MISSING: Final = 'this authorization needs PyJWT and cryptography: pip install "assay-mcp[auth]"'
CURVES: Final = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}


class JwtSigner:
    """Signs with a private key in PEM.

    Raises:
        ValueError: not a private key that can sign, or not with this algorithm.
        MissingExtra: the libraries are not installed.
    """

    def __init__(self, pem: str | bytes, algorithm: str | None = None, key_id: str | None = None) -> None:
        try:
            import jwt
            from cryptography.hazmat.primitives.serialization import load_pem_private_key
        except ImportError:
            raise MissingExtra(MISSING) from None
        try:
            self._key: Any = load_pem_private_key(pem.encode() if isinstance(pem, str) else pem, None)
        except (ValueError, TypeError):
            # The reason may quote the key, so the error does not show it.
            raise ValueError("private_key must be an unencrypted private key in PEM") from None
        self.algorithm = algorithm or _algorithm_of(self._key)
        self._key_id = {} if key_id is None else {"kid": key_id}
        self._encode = jwt.encode
        try:
            self.sign({}, {})
        except (jwt.PyJWTError, NotImplementedError, TypeError, ValueError, AttributeError):
            raise ValueError(f"private_key cannot sign with {self.algorithm!r}") from None

    @property
    def public_jwk(self) -> dict[str, str]:
        from jwt.algorithms import get_default_algorithms

        algorithm: Any = get_default_algorithms()[self.algorithm]
        jwk: dict[str, Any] = algorithm.to_jwk(self._key.public_key(), as_dict=True)
        return {name: value for name, value in jwk.items() if isinstance(value, str)}

    def sign(self, header: Mapping[str, Any], claims: Mapping[str, Any]) -> str:
        token: str = self._encode(dict(claims), self._key, self.algorithm, {**self._key_id, **header})
        return token


def _algorithm_of(key: Any) -> str:
    curve = getattr(key, "curve", None)
    if curve is not None:
        return CURVES.get(curve.name, str(curve.name))
    return "RS256" if hasattr(key, "private_numbers") else "EdDSA"


def new_key() -> str:
    """A new private key for ES256, in PEM.

    Raises:
        MissingExtra: cryptography is not installed.
    """
    try:
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
    except ImportError:
        raise MissingExtra(MISSING) from None
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
