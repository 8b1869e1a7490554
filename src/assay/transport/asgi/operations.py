"""`/health` and `/ready`, for service managers, load balancers and Kubernetes.

They answer any Host: a probe calls a pod by its address. They say no more than a word, so a page of a foreign
site that reaches them learns nothing. They need no token, and never take the endpoint's own path.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final

from assay.model.error import StoreAway, StoreError
from assay.protocol.http.asgi import AsgiScope, Transmit
from assay.protocol.http.head_policy import JSON

HEALTH: Final = "/health"
READY: Final = "/ready"
PATHS: Final = frozenset({HEALTH, READY})
PATIENCE: Final = 2.0
"""Seconds that the store may take to answer."""
REMEMBERED: Final = 0.5
"""Seconds for which an answer of the store is reused: a flood of probes must not become one of the store."""
Check = Callable[[], Awaitable[None]]
"""Returns if the store can be reached, and raises otherwise."""


class Operations:
    def __init__(self, check: Check | None) -> None:
        self._check = check
        self._checked_at = 0.0
        self._store_answers = True
        self._checking: asyncio.Task[bool] | None = None
        self.draining = False

    async def serve(self, scope: AsgiScope, send: Transmit) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            return await _answer(scope, send, 405, b'{"error":"use GET"}', ((b"allow", b"GET, HEAD"),))
        if scope["path"].rstrip("/").endswith(HEALTH):
            return await _answer(scope, send, 200, b'{"status":"ok"}')
        if self.draining:
            return await _answer(scope, send, 503, b'{"status":"draining"}')
        if not await self._is_store_there():
            return await _answer(scope, send, 503, b'{"status":"store unreachable"}')
        return await _answer(scope, send, 200, b'{"status":"ready"}')

    async def _is_store_there(self) -> bool:
        if self._check is None or monotonic() - self._checked_at < REMEMBERED:
            return self._store_answers
        if self._checking is None:
            self._checking = asyncio.get_running_loop().create_task(self._ask_store(self._check))
        return await asyncio.shield(self._checking)

    async def _ask_store(self, check: Check) -> bool:
        try:
            async with asyncio.timeout(PATIENCE):
                await check()
            self._store_answers = True
        except (StoreError, StoreAway, OSError, TimeoutError):
            self._store_answers = False
        finally:
            self._checked_at, self._checking = monotonic(), None
        return self._store_answers


async def _answer(
    scope: AsgiScope,
    send: Transmit,
    status: int,
    body: bytes,
    headers: tuple[tuple[bytes, bytes], ...] = (),
) -> None:
    length = (b"content-length", b"%d" % len(body))
    fields = [JSON, (b"cache-control", b"no-store"), length, *headers]
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
