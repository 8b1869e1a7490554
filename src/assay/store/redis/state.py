"""Kept state, keys that may be used once, and token buckets, in Redis."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import Final

import msgspec

from assay.store.port import BusMessage, StateRecord

from . import script
from .bus import RedisBus
from .link import RedisLink

STATES: Final = "states"
"""The topic of owners whose state has changed."""
STATE_KEPT: Final = 30 * 86_400
"""Seconds that the state of a principal is kept after its last change."""
REMEMBERED: Final = 1000
"""States that are remembered as current."""
TRUSTED: Final = 60.0
"""Seconds after which a state is read again, whatever the bus has said."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(StateRecord).decode


class RedisState:
    """Kept state of principals. What was read is remembered until the bus says that it has changed."""

    def __init__(self, link: RedisLink, bus: RedisBus) -> None:
        self._link = link
        self._bus = bus
        self._current: OrderedDict[str, tuple[StateRecord, float]] = OrderedDict()
        bus.subscribe(STATES, lambda message: self._forget(message.data.decode()))
        bus.on_gap(self._current.clear)

    def _key(self, owner: str) -> str:
        return self._link.key(f"state-{owner}")

    def _forget(self, owner: str) -> None:
        self._current.pop(owner, None)

    def _remember(self, owner: str, record: StateRecord) -> None:
        self._current[owner] = (record, time.monotonic() + TRUSTED)
        self._current.move_to_end(owner)
        if len(self._current) > REMEMBERED:
            self._current.popitem(last=False)

    def peek(self, owner: str) -> StateRecord:
        known = self._current.get(owner)
        if known is not None and self._bus.is_connected and known[1] > time.monotonic():
            return known[0]
        data = self._link.read_at_once(self._key(owner), "record")
        record = StateRecord({}) if data is None else _decode(data)
        self._remember(owner, record)
        return record

    async def swap(self, owner: str, record: StateRecord) -> bool:
        values = (_encode(record), record.version, STATE_KEPT)
        swapped = bool(await self._link.script(script.STATE_SWAP, [self._key(owner)], *values))
        if swapped:
            self._remember(owner, record)
            await self._bus.publish([BusMessage(STATES, owner.encode())])
        else:
            self._forget(owner)
        return swapped


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
