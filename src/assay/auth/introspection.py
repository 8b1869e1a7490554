"""Tokens that only their issuer can read: it is asked about each (RFC 7662)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote_plus

from .denial import Unavailable, bad_token
from .fetch import fetch, need_client

AT_ONCE: Final = 32
"""Questions that the issuer gets at once; strangers can make up tokens as fast as they like."""
WAITING: Final = 1000
"""Questions in all, beyond which no more are taken."""


@dataclass(frozen=True, kw_only=True)
class Introspection:
    """Where to ask about tokens, and as whom. What was learnt is believed for `kept` seconds: that is how
    long a token that is revoked may go on to be good."""

    url: str
    client_id: str
    client_secret: str = field(repr=False)
    kept: float = 30.0


class Inquiry:
    """Asks about tokens."""

    def __init__(self, settings: Introspection, most: int = WAITING) -> None:
        need_client()
        self._settings = settings
        self._most = most
        # As RFC 6749 (2.3.1) wants it: encoded like a form, before base64 makes one word of both.
        self._client = (quote_plus(settings.client_id), quote_plus(settings.client_secret))
        self._places = asyncio.Semaphore(AT_ONCE)
        self._under_way: dict[str, asyncio.Task[Mapping[str, Any]]] = {}

    async def ask(self, token: str) -> Mapping[str, Any]:
        """What the issuer says of a token. Requests that come together with one token ask once.

        Raises:
            Denied: it is not active.
            Unavailable: the issuer does not answer, or has been asked too much.
        """
        asking = self._under_way.get(token)
        if asking is None:
            if len(self._under_way) >= self._most:
                raise Unavailable("too many tokens are asked about at once")
            asking = asyncio.get_running_loop().create_task(self._ask(token))
            self._under_way[token] = asking
            asking.add_done_callback(lambda done: self._answered(token, done))
        return await asyncio.shield(asking)

    def _answered(self, token: str, asking: asyncio.Task[Mapping[str, Any]]) -> None:
        del self._under_way[token]
        if not asking.cancelled():
            asking.exception()  # whoever asked may have left, and nobody else will look at it

    async def _ask(self, token: str) -> Mapping[str, Any]:
        form = {"token": token, "token_type_hint": "access_token"}
        async with self._places:
            found = await fetch(self._settings.url, form=form, client=self._client)
        active = found.get("active")
        if not isinstance(active, bool):
            raise Unavailable(f"{self._settings.url} does not say whether a token is active")
        if not active:
            raise bad_token("the token is not active")
        return found
