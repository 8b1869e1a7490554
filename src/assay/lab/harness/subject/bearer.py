"""Bearer tokens of the driver, valid and invalid, by kind.

Scenarios and traces refer to a token by its kind. The token itself is only on the wire.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

import msgspec

BEARER: Final = "bearer"
"""Mark of a connection with a token other than the usual one; `shows` gives its kind."""

USUAL: Final = "usual"
"""Valid, with all scopes that the driver needs."""
NONE: Final = "none"
OTHER: Final = "other"
"""Valid, of a second user."""
WEAK: Final = "weak"
"""Valid, with insufficient scope."""
EXPIRED: Final = "expired"
FOREIGN: Final = "foreign"
"""Valid for another server."""
OTHER_ISSUER: Final = "other-issuer"
NOT_YET: Final = "not-yet"
"""Valid in six minutes: more than an acceptable clock skew."""
SKEWED: Final = "skewed"
"""Valid in twenty seconds: within an acceptable clock skew."""
STRANGER: Final = "stranger"
"""Signed with a key that is not the issuer's."""
CAPITALS: Final = "capitals"
"""Valid: its audience is this server's URL, with scheme and host in upper case."""
STEPPED: Final = "stepped-up"
"""With exactly the scopes that the server asked for."""

MALFORMED: Final = "malformed"
"""Violates the syntax of a token."""
GARBAGE: Final = "garbage"
ALTERED: Final = "altered"
"""The usual token with a modified signature."""
UNSIGNED: Final = "unsigned"
"""The usual token with `alg: none` and without signature."""
FORGED: Final = "forged"
"""The usual token, signed by the driver."""

AHEAD: Final = {NOT_YET: 360, SKEWED: 20}
"""Seconds until such a token is valid, by this machine's clock."""

Grant = Callable[[Sequence[str]], Awaitable[str | None]]
"""Returns a token with these scopes, or None if the issuer grants none."""
Fetch = Callable[[], Awaitable[tuple[Mapping[str, str], float]]]
"""Returns new tokens and their lifetime in seconds."""
Mint = Callable[[str], Awaitable[str | None]]
"""Returns a fresh token of a time-dependent kind, or None if the issuer cannot mint it."""


class TokenSet:
    """The tokens of a run by kind."""

    def __init__(
        self,
        tokens: Mapping[str, str] | None = None,
        *,
        grant: Grant | None = None,
        fetch: Fetch | None = None,
        mint: Mint | None = None,
        learn: Callable[[str], None] = lambda token: None,
    ) -> None:
        """`learn` is called with every token, so that the recorder can redact it."""
        self._grant = grant
        self._fetch = fetch
        self._mint = mint
        self._learn = learn
        self._fetching = asyncio.Lock()
        self._renew_at = 0.0
        self._tokens: dict[str, str] = {}
        self._put(tokens or {})

    def _put(self, tokens: Mapping[str, str]) -> None:
        usual = tokens.get(USUAL)
        self._tokens = {**({} if usual is None else invalid_variants(usual)), **tokens}
        for token in self._tokens.values():
            self._learn(token)

    async def keep_fresh(self) -> None:
        """Get new tokens before the old ones expire.

        Raises:
            NoToken: the issuer no longer issues tokens.
        """
        if self._fetch is None:
            return
        async with self._fetching:
            if time.monotonic() >= self._renew_at:
                tokens, seconds = await self._fetch()
                self._renew_at = time.monotonic() + seconds / 2
                self._put(tokens)

    def get(self, kind: str) -> str | None:
        return self._tokens.get(kind)

    @property
    def kinds(self) -> list[str]:
        return sorted({*self._tokens, *([STEPPED] if self._grant is not None else [])})

    async def step_up(self, scopes: Sequence[str]) -> bool:
        """Get a token with exactly these scopes, as the kind `STEPPED`; false if none is granted."""
        return self._keep(STEPPED, None if self._grant is None else await self._grant(scopes))

    async def renew(self, kind: str) -> bool:
        """Get a fresh token of a time-dependent kind; false if the old one remains."""
        return self._keep(kind, None if self._mint is None else await self._mint(kind))

    def _keep(self, kind: str, token: str | None) -> bool:
        if token is not None:
            self._tokens[kind] = token
            self._learn(token)
        return token is not None


def invalid_variants(token: str) -> dict[str, str]:
    """Invalid tokens derived from a valid one; few if it is not a JWT."""
    variants = {MALFORMED: "two words, neither a token", GARBAGE: "this-is-no-token-of-anybody"}
    parts = token.split(".")
    if len(parts) != 3 or not all(parts) or claims_of(token) is None:
        return variants
    header, claims, signature = parts
    forged_header = _encoded({"alg": "HS256", "typ": "at+jwt"})
    forged = hmac.digest(b"a key of the driver", f"{forged_header}.{claims}".encode(), "sha256")
    return {
        **variants,
        ALTERED: f"{header}.{claims}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}",
        UNSIGNED: f"{_encoded({'alg': 'none', 'typ': 'at+jwt'})}.{claims}.",
        FORGED: f"{forged_header}.{claims}.{_base64url(forged)}",
    }


def claims_ahead(kind: str) -> dict[str, int]:
    """The time claims of a token that is not valid yet."""
    not_before = int(time.time()) + AHEAD[kind]
    return {"nbf": not_before, "exp": not_before + 600}


def claims_of(token: str) -> dict[str, object] | None:
    """The unverified claims of a token; None if it is not a JWT."""
    try:
        text = token.split(".")[1]
        return msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=dict)
    except (IndexError, ValueError):
        return None


def _encoded(part: dict[str, str]) -> str:
    return _base64url(msgspec.json.encode(part))


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
