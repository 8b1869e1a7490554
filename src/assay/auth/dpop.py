"""DPoP: proofs that the sender of a token holds the key that it is bound to (RFC 9449)."""

from __future__ import annotations

import hmac
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import inf
from os import urandom
from typing import Any, Final, NamedTuple

from .address import target
from .error import NEED_NONCE, AuthorizationError, bad_proof
from .grant import finite_number
from .signature import ALGORITHMS, encode64, make_key, parse_token, thumbprint

PROOF_BYTES: Final = 16 * 1024
AHEAD: Final = 5.0
"""Seconds that a client's clock may be fast."""


@dataclass(frozen=True, kw_only=True)
class DPoP:
    """`required` refuses tokens that are not bound to a key. `nonce` makes proofs carry a nonce from this
    server, so that none can be prepared in advance; servers behind one load balancer share `nonce_key`. A
    proof is accepted for `window` seconds, and the last `remembered` proofs are stored to detect replays."""

    required: bool = False
    nonce: bool = False
    nonce_key: bytes = field(default=b"", repr=False)
    window: float = 60.0
    remembered: int = 100_000


class Nonces:
    """Stateless nonces: each is an HMAC over the period in which it is valid."""

    def __init__(self, key: bytes, window: float, clock: Callable[[], float]) -> None:
        self._key = key or urandom(32)
        self._window = window
        self._clock = clock

    def current(self) -> str:
        return self._of(self._period())

    def accepts(self, nonce: Any) -> bool:
        period = self._period()
        return isinstance(nonce, str) and any(
            hmac.compare_digest(nonce.encode(), self._of(valid).encode()) for valid in (period, period - 1)
        )

    def _period(self) -> int:
        return int(self._clock() // self._window)

    def _of(self, period: int) -> str:
        return encode64(hmac.digest(self._key, b"dpop nonce %d" % period, sha256))


class ReplayCache:
    """Proofs that were used. When full, the oldest are dropped, and from then on every proof issued no later
    than those is refused: a flood shortens the window but never permits a replay."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._used: OrderedDict[bytes, float] = OrderedDict()
        self._horizon = -inf

    def __len__(self) -> int:
        return len(self._used)

    def add(self, name: bytes, issued: float, oldest: float) -> bool:
        """False if the proof was used before, or may have been."""
        while self._used and (next(iter(self._used.values())) < oldest or len(self._used) >= self._most):
            forgotten = self._used.popitem(last=False)[1]
            if forgotten >= oldest:
                self._horizon = max(self._horizon, forgotten)
        if issued <= self._horizon or name in self._used:
            return False
        self._used[name] = issued
        return True


class UsedProof(NamedTuple):
    """A proof that this process has not seen before. Others may have."""

    key: bytes
    expires: float


class Proofs:
    """Verifies DPoP proofs."""

    def __init__(self, settings: DPoP, clock: Callable[[], float]) -> None:
        self._settings = settings
        self._clock = clock
        self.nonces = Nonces(settings.nonce_key, settings.window, clock) if settings.nonce else None
        self._replays = ReplayCache(settings.remembered)

    def check(
        self, proofs: Sequence[bytes], token: bytes, bound_to: str, request: tuple[str, str]
    ) -> UsedProof:
        """Verify the one proof of a request; `request` is its method and URL, as the client sees them.

        Raises:
            AuthorizationError: The proof is missing, invalid, or for another token or request.
        """
        if len(proofs) != 1:
            raise bad_proof("a token that is bound to a key requires exactly one DPoP header")
        if len(proofs[0]) > PROOF_BYTES or not proofs[0].isascii():
            raise bad_proof("the proof cannot be read")
        claims = open_proof(proofs[0].decode("ascii"), bound_to)
        self._check_request(claims, token, request)
        issued = self._check_time(claims.get("iat"))
        if self.nonces is not None and not self.nonces.accepts(claims.get("nonce")):
            raise AuthorizationError(NEED_NONCE, "the proof must carry the nonce that comes with this answer")
        return self._check_replay(claims.get("jti"), bound_to, issued)

    def _check_request(self, claims: dict[str, Any], token: bytes, request: tuple[str, str]) -> None:
        method, url = request
        if claims.get("htm") != method:
            raise bad_proof("the proof is for another method")
        # RFC 9449, 4.3: htu is compared after normalization, without query and fragment.
        htu = claims.get("htu")
        if not isinstance(htu, str) or target(htu) != target(url):
            raise bad_proof("the proof is for another URL")
        # The token's hash keeps a proof from being used with another token of the same key (RFC 9449, 7).
        token_hash = claims.get("ath")
        expected = encode64(sha256(token).digest())
        if not isinstance(token_hash, str) or not hmac.compare_digest(token_hash.encode(), expected.encode()):
            raise bad_proof("the proof is for another token")

    def _check_time(self, iat: Any) -> float:
        issued = finite_number(iat)
        if issued is None:
            raise bad_proof("the proof does not say when it was issued: iat")
        now = self._clock()
        if not now - self._settings.window <= issued <= now + AHEAD:
            raise bad_proof("the proof was not issued just now")
        return issued

    def _check_replay(self, jti: Any, holder: str, issued: float) -> UsedProof:
        if not isinstance(jti, str) or not jti:
            raise bad_proof("the proof has no unique id: jti")
        key = sha256(f"{holder} {jti}".encode("utf-8", "surrogatepass")).digest()
        if not self._replays.add(key, issued, self._clock() - self._settings.window):
            raise bad_proof("the proof was used before")
        return UsedProof(key, issued + self._settings.window)


def open_proof(text: str, holder: str) -> dict[str, Any]:
    """The claims of a proof that is signed with the key in its header, whose thumbprint must be `holder`.

    Raises:
        AuthorizationError: The proof is malformed, or signed with another key.
    """
    proof = parse_token(text, ALGORITHMS, ("dpop+jwt",), bad_proof)
    jwk = proof.header.get("jwk")
    key = make_key(jwk)
    if key is None or not key.fits(None, proof.algorithm) or not isinstance(jwk, dict):
        raise bad_proof("the proof has no public key that fits its algorithm")
    # Compare before verifying: a stranger could choose a key that is expensive to compute with.
    if not hmac.compare_digest(thumbprint(jwk).encode(), holder.encode()):
        raise bad_proof("the proof is signed with another key than the token's")
    claims = proof.verified_by(key)
    if claims is None:
        raise bad_proof("the signature of the proof is invalid")
    return claims
