"""Token introspection (RFC 7662): ask the issuer about tokens that only it can read."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote_plus

from .error import Unavailable, bad_token
from .fetch import fetch, need_client

CONCURRENT: Final = 32
"""Requests in flight to the issuer: anyone can send made-up tokens at any rate."""
PENDING: Final = 1000
"""Requests in flight or queued; further tokens are refused."""


@dataclass(frozen=True, kw_only=True)
class Introspection:
    """The introspection endpoint and the credentials for it. Answers are cached for `kept` seconds, which is
    how long a revoked token may stay accepted, and refusals for `refused` seconds: a bad token that is sent
    again and again is introspected once in that time."""

    url: str
    client_id: str
    client_secret: str = field(repr=False)
    kept: float = 30.0
    refused: float = 5.0


class IntrospectionClient:
    """Introspects tokens."""

    def __init__(self, settings: Introspection, most: int = PENDING) -> None:
        need_client()
        self._settings = settings
        self._most = most
        # RFC 6749, 2.3.1: id and secret are form-encoded before they are joined for Basic authentication.
        self._client = (quote_plus(settings.client_id), quote_plus(settings.client_secret))
        self._places = asyncio.Semaphore(CONCURRENT)
        self._under_way: dict[str, asyncio.Task[Mapping[str, Any]]] = {}

    async def introspect(self, token: str) -> Mapping[str, Any]:
        """The claims that the issuer reports. Concurrent requests with the same token share one answer.

        Raises:
            AuthorizationError: The token is not active.
            Unavailable: The issuer does not answer, or too many tokens are waiting.
        """
        request = self._under_way.get(token)
        if request is None:
            if len(self._under_way) >= self._most:
                raise Unavailable("too many tokens are being introspected")
            request = asyncio.get_running_loop().create_task(self._request(token))
            self._under_way[token] = request
            request.add_done_callback(lambda done: self._finish(token, done))
        return await asyncio.shield(request)

    def _finish(self, token: str, request: asyncio.Task[Mapping[str, Any]]) -> None:
        del self._under_way[token]
        if not request.cancelled():
            request.exception()  # mark it as retrieved: the client may have disconnected

    async def _request(self, token: str) -> Mapping[str, Any]:
        form = {"token": token, "token_type_hint": "access_token"}
        async with self._places:
            claims = await fetch(self._settings.url, form=form, client=self._client)
        active = claims.get("active")
        if not isinstance(active, bool):
            raise Unavailable(f"{self._settings.url} did not say whether the token is active")
        if not active:
            raise bad_token("the token is not active")
        return claims
