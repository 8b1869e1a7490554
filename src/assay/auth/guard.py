"""Verify access tokens and cache the verified ones until they expire."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from typing import Any, Final, NamedTuple

from assay.model.error import StoreAway

from .auth import Auth
from .cache import ExpiringCache
from .certificate import certificate_thumbprint
from .credentials import DPOP, Credentials
from .dpop import Proofs, UsedProof
from .error import INSUFFICIENT_SCOPE, AuthorizationError, Unavailable, bad_proof, bad_token
from .grant import Grant
from .introspection import Introspection, IntrospectionClient
from .signature import looks_like_jwt, parse_token

REFUSED: Final = 10_000
"""Refused tokens that are cached: a hash and a fixed sentence each, about 2 MB."""


class RequestInfo(NamedTuple):
    """What a binding is verified against: the request without its token."""

    method: str
    url: str
    """As the client sees it."""
    proofs: list[bytes]
    certificate: str | None
    """The client's certificate in PEM, from the TLS layer."""


Once = Callable[[bytes, float], Awaitable[bool]]
"""Notes a key until a time; false if any process has noted it before."""


class Guard:
    def __init__(self, auth: Auth, once: Once | None = None) -> None:
        self.auth = auth
        self._once = once
        self._clock = auth.clock
        self._rules = auth.rules
        self._required = frozenset(auth.scopes)
        self._verified: ExpiringCache[Grant] = ExpiringCache(auth.remembered)
        self._refused: ExpiringCache[str] = ExpiringCache(REFUSED)
        """Reasons, by token. A cache of its own: made-up tokens must not replace verified ones."""
        self._ring = auth.key_ring(self._verified.clear)
        self._introspection = None if auth.introspection is None else IntrospectionClient(auth.introspection)
        self.proofs = Proofs(auth.dpop, auth.clock)

    def recall(self, credentials: Credentials) -> Grant | None:
        """The grant of a cached token that needs no further check of this request: the fast path."""
        if credentials.scheme == DPOP or (self._ring is not None and self._ring.is_due):
            return None
        grant = self._verified.get(sha256(credentials.token).digest(), self._clock())
        if grant is None or not self._is_unbound(grant) or not self._required <= grant.scopes:
            return None
        return grant

    def _is_unbound(self, grant: Grant) -> bool:
        return grant.key is None and grant.certificate is None and not self.auth.dpop.required

    async def admit(self, credentials: Credentials, request: RequestInfo) -> Grant:
        """
        Raises:
            AuthorizationError: The token is invalid, not bound to this sender, or lacks a scope.
            Unavailable: The token cannot be verified now.
        """
        if self._ring is not None:
            await self._ring.refresh_if_due()  # changed keys clear the cache
        token = credentials.token
        grant = self._verified.get(sha256(token).digest(), self._clock()) or await self._verify(token)
        proof = self._check(grant, credentials, request)
        if proof is not None and self._once is not None:
            await self._check_elsewhere(proof, self._once)
        return grant

    async def _check_elsewhere(self, proof: UsedProof, once: Once) -> None:
        try:
            is_new = await once(proof.key, proof.expires)
        except StoreAway as error:
            raise Unavailable("the store that knows used proofs is away") from error
        if not is_new:
            raise bad_proof("the proof was used before")

    async def _verify(self, token: bytes) -> Grant:
        text = token.decode("ascii")
        if self._introspection is not None and (self._ring is None or not looks_like_jwt(text)):
            assert self.auth.introspection is not None
            grant = await self._introspected(text, self._introspection, self.auth.introspection)
            until = min(grant.expires, self._clock() + self.auth.introspection.kept)
        else:
            grant = self._rules.read(await self._signed_claims(text), self._clock())
            until = grant.expires
        self._verified.put(sha256(token).digest(), grant, until)
        return grant

    async def _introspected(self, text: str, client: IntrospectionClient, settings: Introspection) -> Grant:
        key = sha256(text.encode()).digest()
        reason = self._refused.get(key, self._clock())
        if reason is not None:
            raise bad_token(reason)
        try:
            claims = await client.introspect(text)
            return self._rules.read(claims, self._clock(), issuer_needed=False)
        except AuthorizationError as error:
            self._refused.put(key, error.reason, self._clock() + settings.refused)
            raise

    async def _signed_claims(self, text: str) -> Mapping[str, Any]:
        assert self._ring is not None
        signed = parse_token(text, self.auth.algorithms, self.auth.types)
        keys = await self._ring.find(signed.header.get("kid"), signed.algorithm)
        if not keys:
            raise bad_token("the token is signed with an unknown key")
        for key in keys:
            claims = signed.verified_by(key)
            if claims is not None:
                return claims
        raise bad_token("the signature of the token is invalid")

    def _check(self, grant: Grant, credentials: Credentials, request: RequestInfo) -> UsedProof | None:
        proof = None
        if credentials.scheme == DPOP or grant.key is not None or self.auth.dpop.required:
            # A bound token sent as Bearer is refused, or a thief could omit the proof (RFC 9449, 7.2).
            proof = self._check_holder(grant, credentials, request)
        if grant.certificate is not None:  # RFC 8705, 3
            presented = certificate_thumbprint(request.certificate) or ""
            if not hmac.compare_digest(presented.encode(), grant.certificate.encode()):
                raise bad_token("the token is bound to another client certificate")
        if not self._required <= grant.scopes:
            raise AuthorizationError(INSUFFICIENT_SCOPE, "the token lacks a required scope")
        return proof

    def _check_holder(self, grant: Grant, credentials: Credentials, request: RequestInfo) -> UsedProof:
        if grant.key is None:
            raise bad_token("the token is not bound to a key")
        if credentials.scheme != DPOP:
            raise bad_token("the token is bound to a key: send it as DPoP, with a proof")
        return self.proofs.check(request.proofs, credentials.token, grant.key, (request.method, request.url))
