"""Proofs that whoever shows a token holds the key that it is bound to (RFC 9449)."""

from __future__ import annotations

import hmac
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import inf
from os import urandom
from typing import Any, Final

from .address import target
from .denial import NEED_NONCE, Denied, bad_proof
from .grant import number
from .signature import ALGORITHMS, encode64, make_key, take_apart, thumbprint

PROOF_BYTES: Final = 16 * 1024
AHEAD: Final = 5.0
"""Seconds that a client's clock may be ahead of ours."""


@dataclass(frozen=True, kw_only=True)
class DPoP:
    """`required` refuses tokens that are not bound to a key. `nonce` makes proofs carry a word of ours, so
    that none can be made in advance; servers that share a load share `nonce_key`. A proof is good for
    `window` seconds; `remembered` is how many are kept so that none is used twice."""

    required: bool = False
    nonce: bool = False
    nonce_key: bytes = field(default=b"", repr=False)
    window: float = 60.0
    remembered: int = 100_000


class Nonces:
    """Words that need not be remembered: each is a code of the time that it is good for."""

    def __init__(self, key: bytes, window: float, clock: Callable[[], float]) -> None:
        self._key = key or urandom(32)
        self._window = window
        self._clock = clock

    def current(self) -> str:
        return self._of(self._period())

    def accepts(self, given: Any) -> bool:
        period = self._period()
        return isinstance(given, str) and any(
            hmac.compare_digest(given.encode(), self._of(each).encode()) for each in (period, period - 1)
        )

    def _period(self) -> int:
        return int(self._clock() // self._window)

    def _of(self, period: int) -> str:
        return encode64(hmac.digest(self._key, b"dpop nonce %d" % period, sha256))


class Used:
    """Proofs that were used. When there are too many, the oldest are forgotten, and from then on no proof is
    good that might be one of them: a flood makes the window smaller, never a proof good twice."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[bytes, float] = OrderedDict()
        self._horizon = -inf

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, name: bytes, made: float, oldest: float) -> bool:
        """False if it was used before, or might have been."""
        while self._kept and (next(iter(self._kept.values())) < oldest or len(self._kept) >= self._most):
            forgotten = self._kept.popitem(last=False)[1]
            if forgotten >= oldest:
                self._horizon = max(self._horizon, forgotten)
        if made <= self._horizon or name in self._kept:
            return False
        self._kept[name] = made
        return True


class Proofs:
    """Checks proofs."""

    def __init__(self, settings: DPoP, clock: Callable[[], float]) -> None:
        self._settings = settings
        self._clock = clock
        self.nonces = Nonces(settings.nonce_key, settings.window, clock) if settings.nonce else None
        self._used = Used(settings.remembered)

    def check(self, proofs: Sequence[bytes], token: bytes, bound_to: str, request: tuple[str, str]) -> None:
        """`request` is the method and the address that the client used.

        Raises:
            Denied: there is no proof, or not a good one for this token and request.
        """
        if len(proofs) != 1:
            raise bad_proof("a token that is bound to a key comes with one proof in the header DPoP")
        if len(proofs[0]) > PROOF_BYTES or not proofs[0].isascii():
            raise bad_proof("the proof cannot be read")
        claims = open_proof(proofs[0].decode("ascii"), bound_to)
        self._check_request(claims, token, request)
        made = self._check_time(claims.get("iat"))
        if self.nonces is not None and not self.nonces.accepts(claims.get("nonce")):
            raise Denied(NEED_NONCE, "the proof must carry the nonce that comes with this answer")
        self._check_once(claims.get("jti"), bound_to, made)

    def _check_request(self, claims: dict[str, Any], token: bytes, request: tuple[str, str]) -> None:
        method, address = request
        if claims.get("htm") != method:
            raise bad_proof("the proof is for another method")
        stated = claims.get("htu")
        if not isinstance(stated, str) or target(stated) != target(address):
            raise bad_proof("the proof is for another address")
        hashed = claims.get("ath")
        right = encode64(sha256(token).digest())
        if not isinstance(hashed, str) or not hmac.compare_digest(hashed.encode(), right.encode()):
            raise bad_proof("the proof is for another token")

    def _check_time(self, given: Any) -> float:
        made = number(given)
        if made is None:
            raise bad_proof("the proof does not say when it was made")
        now = self._clock()
        if not now - self._settings.window <= made <= now + AHEAD:
            raise bad_proof("the proof was not made just now")
        return made

    def _check_once(self, name: Any, holder: str, made: float) -> None:
        if not isinstance(name, str) or not name:
            raise bad_proof("the proof has no name of its own")
        key = sha256(f"{holder} {name}".encode("utf-8", "surrogatepass")).digest()
        if not self._used.add(key, made, self._clock() - self._settings.window):
            raise bad_proof("the proof was used before")


def open_proof(text: str, holder: str) -> dict[str, Any]:
    """The claims of a proof that is signed by the key in it, which must be of this name.

    Raises:
        Denied: it is no proper proof.
    """
    signed = take_apart(text, ALGORITHMS, ("dpop+jwt",), bad_proof)
    jwk = signed.header.get("jwk")
    key = make_key(jwk)
    if key is None or not key.fits(None, signed.algorithm) or not isinstance(jwk, dict):
        raise bad_proof("the proof has no public key that fits its algorithm")
    # First, because strangers could choose keys that take long to compute with.
    if not hmac.compare_digest(thumbprint(jwk).encode(), holder.encode()):
        raise bad_proof("the proof is by another key than the token's")
    claims = signed.verified_by(key)
    if claims is None:
        raise bad_proof("the proof is not signed by its key")
    return claims
