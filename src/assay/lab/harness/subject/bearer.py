"""What the driver can show to be let in: tokens of several kinds, good ones and bad.

Scenarios and traces know a token by its kind. The token itself is on the wire only.
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
"""The mark of a connection that shows something else than usual; `shows` says what."""

USUAL: Final = "usual"
"""Good, and enough for all that the driver does."""
NONE: Final = "none"
OTHER: Final = "other"
"""As good, of another user."""
WEAK: Final = "weak"
"""Good, with too small a scope."""
EXPIRED: Final = "expired"
FOREIGN: Final = "foreign"
"""Good for another server."""
OTHER_ISSUER: Final = "other-issuer"
NOT_YET: Final = "not-yet"
"""Good in six minutes, which is more than clocks differ by."""
SKEWED: Final = "skewed"
"""Good in twenty seconds: for a clock that is a little ahead, it is now."""
STRANGER: Final = "stranger"
"""Signed as good ones are, with a key that the issuer does not have."""
CAPITALS: Final = "capitals"
"""Good: its audience is this server's address, in capitals where their size does not matter."""
STEPPED: Final = "stepped-up"
"""With just the scopes that the server asked for."""

MALFORMED: Final = "malformed"
"""Not even the form of a token."""
GARBAGE: Final = "garbage"
ALTERED: Final = "altered"
"""The usual one, its signature changed."""
UNSIGNED: Final = "unsigned"
"""The usual one under `alg: none`, without its signature."""
FORGED: Final = "forged"
"""The usual one, signed by the driver itself."""

AHEAD: Final = {NOT_YET: 360, SKEWED: 20}
"""Seconds until such a token is good, by the clock of this machine."""

Granting = Callable[[Sequence[str]], Awaitable[str | None]]
"""Gets a token with these scopes; none where there is none to be had."""
Fetching = Callable[[], Awaitable[tuple[Mapping[str, str], float]]]
"""Gets new tokens, and says for how many seconds they are good."""
Minting = Callable[[str], Awaitable[str | None]]
"""Gets a token of a kind of which only a new one is any good; none where there is none to be had."""


class Wallet:
    """All tokens of one run, by kind."""

    def __init__(
        self,
        tokens: Mapping[str, str] | None = None,
        *,
        grant: Granting | None = None,
        fetch: Fetching | None = None,
        mint: Minting | None = None,
        learn: Callable[[str], None] = lambda token: None,
    ) -> None:
        """`learn` is told of every token that is shown, so that none is kept."""
        self._grant = grant
        self._fetch = fetch
        self._mint = mint
        self._learn = learn
        self._fetching = asyncio.Lock()
        self._until = 0.0
        """By the clock: when the tokens should be new."""
        self._tokens: dict[str, str] = {}
        self._put(tokens or {})

    def _put(self, tokens: Mapping[str, str]) -> None:
        usual = tokens.get(USUAL)
        self._tokens = {**({} if usual is None else spoiled(usual)), **tokens}
        for token in self._tokens.values():
            self._learn(token)

    async def keep_fresh(self) -> None:
        """Get new tokens before the old ones expire.

        Raises:
            NoToken: there are none any more.
        """
        if self._fetch is None:
            return
        async with self._fetching:
            if time.monotonic() >= self._until:
                tokens, seconds = await self._fetch()
                self._until = time.monotonic() + seconds / 2
                self._put(tokens)

    def get(self, kind: str) -> str | None:
        return self._tokens.get(kind)

    @property
    def kinds(self) -> list[str]:
        return sorted({*self._tokens, *([STEPPED] if self._grant is not None else [])})

    async def step_up(self, scopes: Sequence[str]) -> bool:
        """Get a token with just these scopes, as the kind `STEPPED`; false where there is none to be had."""
        return self._keep(STEPPED, None if self._grant is None else await self._grant(scopes))

    async def renew(self, kind: str) -> bool:
        """Get a token of a kind that is another a little later; false where the old one must do."""
        return self._keep(kind, None if self._mint is None else await self._mint(kind))

    def _keep(self, kind: str, token: str | None) -> bool:
        if token is not None:
            self._tokens[kind] = token
            self._learn(token)
        return token is not None


def spoiled(token: str) -> dict[str, str]:
    """Bad tokens that can be made of a good one; of one that only its issuer can read, few."""
    made = {MALFORMED: "two words, neither a token", GARBAGE: "this-is-no-token-of-anybody"}
    parts = token.split(".")
    if len(parts) != 3 or not all(parts) or claims_of(token) is None:
        return made
    header, claims, signature = parts
    kind = _encoded({"alg": "HS256", "typ": "at+jwt"})
    by_us = hmac.digest(b"a key that nobody else has", f"{kind}.{claims}".encode(), "sha256")
    return {
        **made,
        ALTERED: f"{header}.{claims}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}",
        UNSIGNED: f"{_encoded({'alg': 'none', 'typ': 'at+jwt'})}.{claims}.",
        FORGED: f"{kind}.{claims}.{_base64url(by_us)}",
    }


def claims_ahead(kind: str) -> dict[str, int]:
    """The times of a token that becomes good after a while."""
    begins = int(time.time()) + AHEAD[kind]
    return {"nbf": begins, "exp": begins + 600}


def claims_of(token: str) -> dict[str, object] | None:
    """What a token says, unverified; none where it is no JWT."""
    try:
        text = token.split(".")[1]
        return msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=dict)
    except (IndexError, ValueError):
        return None


def _encoded(part: dict[str, str]) -> str:
    return _base64url(msgspec.json.encode(part))


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
