"""Kept state, keys that may be used once, and token buckets, in Redis."""

from __future__ import annotations

from typing import Final

import msgspec

from assay.store.port import StateRecord

from . import script
from .link import RedisLink

STATE_KEPT: Final = 30 * 86_400
"""Seconds that the state of a principal is kept after its last change."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(StateRecord).decode


class RedisState:
    """Kept state of principals."""

    def __init__(self, link: RedisLink) -> None:
        self._link = link

    def _key(self, owner: str) -> str:
        return self._link.key(f"state-{owner}")

    async def load(self, owner: str) -> StateRecord:
        data = await self._link.run(self._link.client.hget(self._key(owner), "record"))
        return StateRecord({}) if data is None else _decode(data)

    async def swap(self, owner: str, record: StateRecord) -> bool:
        values = (_encode(record), record.version, STATE_KEPT)
        return bool(await self._link.script(script.STATE_SWAP, [self._key(owner)], *values))


class RedisReplay:
    """Keys that may be used once."""

    def __init__(self, link: RedisLink) -> None:
        self._link = link

    async def add(self, key: bytes, expires: float) -> bool:
        name = self._link.key(f"once-{key.hex()}")
        added = self._link.client.set(name, 1, nx=True, pxat=int(expires * 1000))
        return bool(await self._link.run(added))


class RedisLimits:
    """Token buckets."""

    def __init__(self, link: RedisLink) -> None:
        self._link = link

    async def take(self, key: str, rate: float, burst: float) -> float:
        wait = await self._link.script(script.TAKE, [self._link.key(f"bucket-{key}")], rate, burst)
        return float(wait)
