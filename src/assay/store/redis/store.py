"""The store behind `redis://…`, `rediss://…` and `redis+sentinel://…`."""

from __future__ import annotations

import time
from typing import Self

from assay.model.error import StoreAway, StoreError
from assay.model.limits import Limits
from assay.store.memory import Clock
from assay.store.port import SharedStore
from assay.store.url import hidden

from .bus import RedisBus
from .events import RedisEvents
from .link import RedisLink, make_client, read_prefix
from .sessions import RedisSessions
from .state import RedisLimits, RedisReplay, RedisState
from .tasks import RedisTasks


class RedisStore(SharedStore):
    """Everything in Redis or Valkey.

    What was acknowledged is in the memory of Redis. Whether it survives the end of Redis is up to its
    configuration: `appendonly yes` with `appendfsync everysec` may lose a second, with `always` nothing.
    """

    def __init__(
        self,
        url: str,
        prefix: str = "assay",
        limits: Limits | None = None,
        *,
        idle_timeout: float = 1800.0,
        clock: Clock = time.time,
    ) -> None:
        limits = limits or Limits()
        self._link = link = RedisLink(url, prefix)
        self.bus: RedisBus = RedisBus(link)
        self.sessions: RedisSessions = RedisSessions(link, self.bus, idle_timeout=idle_timeout, clock=clock)
        self.events: RedisEvents = RedisEvents(link, idle_timeout=idle_timeout)
        self.tasks: RedisTasks = RedisTasks(link, self.bus, limits, clock=clock)
        self.state: RedisState = RedisState(link, self.bus)
        self.replay: RedisReplay = RedisReplay(link)
        self.limits: RedisLimits = RedisLimits(link)

    @classmethod
    def from_url(cls, url: str, limits: Limits) -> Self:
        """
        Raises:
            StoreError: the URL is wrong.
            MissingExtra: the package is not installed.
        """
        address, prefix = read_prefix(url)
        make_client(address)  # finds what is wrong with it, and does not connect
        return cls(address, prefix, limits)

    @property
    def name(self) -> str:
        return hidden(self._link.url)

    async def start(self) -> None:
        if self._link.is_open:
            return
        await self._link.open()
        try:
            await self.bus.start()
        except StoreAway as error:
            await self._link.close()
            raise StoreError(f"store {self.name} was lost at the start", "check that it runs") from error

    async def close(self) -> None:
        await self.bus.stop()
        await self._link.close()

    async def check(self) -> None:
        await self._link.check()
