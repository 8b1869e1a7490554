"""Who may pass: a token is verified once, and known from then on until it expires."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from .auth import Auth
from .bounded import Bounded
from .certificate import fingerprint
from .credentials import DPOP, Credentials
from .denial import INSUFFICIENT_SCOPE, Denied, bad_token
from .dpop import Proofs
from .grant import Grant
from .introspection import Inquiry
from .signature import looks_signed, take_apart


class Circumstances(NamedTuple):
    """What is true of a request besides its token."""

    method: str
    address: str
    """As the client knows it."""
    proofs: list[bytes]
    certificate: str | None
    """Of the client, as the TLS layer says: in PEM."""


class Guard:
    def __init__(self, auth: Auth) -> None:
        self.auth = auth
        self._clock = auth.clock
        self._terms = auth.terms
        self._needed = frozenset(auth.scopes)
        self._known: Bounded[Grant] = Bounded(auth.remembered)
        self._ring = auth.key_ring(self._known.clear)
        self._inquiry = None if auth.introspection is None else Inquiry(auth.introspection)
        self.proofs = Proofs(auth.dpop, auth.clock)

    def recall(self, credentials: Credentials) -> Grant | None:
        """What a token grants: if it is known, enough, and good in anybody's hands, as most are."""
        if credentials.scheme == DPOP or (self._ring is not None and self._ring.is_due):
            return None
        grant = self._known.get(sha256(credentials.token).digest(), self._clock())
        return grant if grant is not None and self._is_plain(grant) and self._needed <= grant.scopes else None

    def _is_plain(self, grant: Grant) -> bool:
        return grant.key is None and grant.certificate is None and not self.auth.dpop.required

    async def admit(self, credentials: Credentials, about: Circumstances) -> Grant:
        """
        Raises:
            Denied: the token is not good, not its owner's to show, or not enough.
            Unavailable: nobody can say whether it is good.
        """
        if self._ring is not None:
            await self._ring.refresh_if_due()  # what is known is forgotten if keys have changed
        token = credentials.token
        grant = self._known.get(sha256(token).digest(), self._clock()) or await self._verify(token)
        self._check(grant, credentials, about)
        return grant

    async def _verify(self, token: bytes) -> Grant:
        text = token.decode("ascii")
        if self._inquiry is not None and (self._ring is None or not looks_signed(text)):
            assert self.auth.introspection is not None
            claims = await self._inquiry.ask(text)
            now = self._clock()
            grant = self._terms.read(claims, now, issuer_needed=False)
            until = min(grant.expires, now + self.auth.introspection.kept)
        else:
            grant = self._terms.read(await self._signed_claims(text), self._clock())
            until = grant.expires
        self._known.put(sha256(token).digest(), grant, until)
        return grant

    async def _signed_claims(self, text: str) -> Mapping[str, Any]:
        assert self._ring is not None
        signed = take_apart(text, self.auth.algorithms, self.auth.types)
        keys = await self._ring.find(signed.header.get("kid"), signed.algorithm)
        if not keys:
            raise bad_token("it is signed by a key that is not known")
        for key in keys:
            claims = signed.verified_by(key)
            if claims is not None:
                return claims
        raise bad_token("its signature is not good")

    def _check(self, grant: Grant, credentials: Credentials, about: Circumstances) -> None:
        if credentials.scheme == DPOP or grant.key is not None or self.auth.dpop.required:
            self._check_holder(grant, credentials, about)
        if grant.certificate is not None:
            shown = fingerprint(about.certificate) or ""
            if not hmac.compare_digest(shown.encode(), grant.certificate.encode()):
                raise bad_token("the token is bound to a certificate that was not shown")
        if not self._needed <= grant.scopes:
            raise Denied(INSUFFICIENT_SCOPE, "the token was not granted what this takes")

    def _check_holder(self, grant: Grant, credentials: Credentials, about: Circumstances) -> None:
        if grant.key is None:
            raise bad_token("the token is not bound to a key")
        if credentials.scheme != DPOP:
            raise bad_token("the token is bound to a key: send it as DPoP, with a proof")
        self.proofs.check(about.proofs, credentials.token, grant.key, (about.method, about.address))
