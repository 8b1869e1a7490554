"""The connection to Redis: its URL, its errors, and the check of what it is."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import parse_qsl, unquote, urlsplit

from assay.model.error import MissingExtra, StoreAway, StoreError
from assay.model.visible import visible_record
from assay.store.url import hidden

if TYPE_CHECKING:
    from redis.asyncio import Redis

logger = logging.getLogger("assay")
logger.addFilter(visible_record)

TIMEOUT: Final = 2.0
"""Seconds to wait for an answer of Redis before a request is refused."""
CONNECTIONS: Final = 64
REPORT_INTERVAL: Final = 5.0
"""Seconds between two log lines about the same trouble."""
OLDEST: Final = (7, 0)
FORM: Final = "write redis://host:6379/0, rediss://… with TLS, or redis+sentinel://host:26379/service"
SENTINEL_PORT: Final = 26379


class RedisLink:
    """Runs commands and scripts, and turns failures into errors of the store."""

    def __init__(self, url: str, prefix: str) -> None:
        self.url = url
        self.prefix = prefix
        self._client: Redis | None = None
        self._blocking: Any = None
        self._scripts: dict[str, Any] = {}
        self._reported = float("-inf")
        self._running = 0
        self._idle = asyncio.Event()
        """Set when the last command that runs has ended."""

    @property
    def is_open(self) -> bool:
        return self._client is not None

    def key(self, tag: str, *parts: str) -> str:
        """A key. All with the same tag are in one hash slot."""
        return ":".join((self.prefix, f"{{{tag}}}", *parts))

    async def open(self) -> None:
        """
        Raises:
            StoreError: Redis cannot be used.
            MissingExtra: the package is not installed.
        """
        from redis.exceptions import RedisError

        client = make_client(self.url)
        try:
            self._check_server(await client.info())
            await client.set(self.key("check"), 1, ex=60)
        except (RedisError, OSError) as error:
            await client.aclose()
            raise self._failure(error) from error
        except StoreError:
            await client.aclose()
            raise
        self._client = client

    def _check_server(self, info: dict[str, Any]) -> None:
        """
        Raises:
            StoreError: it is too old, read-only, or may delete what it keeps.
        """
        name = hidden(self.url)
        version = str(info.get("redis_version", "0"))
        if tuple(map(int, version.split(".")[:2])) < OLDEST:
            raise StoreError(f"store {name} is Redis {version}", "use Redis 7.0 or later, or Valkey")
        if info.get("role") == "slave":
            raise StoreError(f"store {name} is a replica, which cannot be written", "name its primary")
        policy = info.get("maxmemory_policy", "noeviction")
        if policy != "noeviction":
            raise StoreError(
                f"store {name} may delete sessions: its maxmemory-policy is {policy}",
                "set it to noeviction, or use another Redis",
            )

    async def close(self) -> None:
        client, self._client = self._client, None
        self._scripts.clear()
        blocking, self._blocking = self._blocking, None
        if blocking is not None:
            blocking.close()
        if client is not None:
            await client.aclose()
            # A command that runs now connects again when it loses its connection.
            await self._end_of_commands()
            await client.aclose()

    async def _end_of_commands(self) -> None:
        self._idle.clear()
        if self._running:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._idle.wait(), 2 * TIMEOUT)

    @property
    def client(self) -> Redis:
        """
        Raises:
            StoreAway: the store is not open.
        """
        if self._client is None:
            raise StoreAway
        return self._client

    async def run(self, command: Any) -> Any:
        """Await a command. Untyped: what the client returns depends on its options.

        Raises:
            StoreAway: Redis did not carry it out.
        """
        from redis.exceptions import RedisError

        self._running += 1
        try:
            return await command
        except (RedisError, OSError, TimeoutError) as error:
            raise self.away(error) from error
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()

    def read_at_once(self, key: str, field: str) -> bytes | None:
        """A field of a hash, by a connection that blocks this thread. For what cannot be awaited, and is then
        remembered: it takes a fraction of a millisecond.

        Raises:
            StoreAway: Redis did not answer.
        """
        from redis.exceptions import RedisError

        try:
            if self._blocking is None:
                self._blocking = make_blocking_client(self.url)
            return cast("bytes | None", self._blocking.hget(key, field))
        except (RedisError, OSError, TimeoutError) as error:
            raise self.away(error) from error

    async def script(self, source: str, keys: list[str], *values: str | bytes | float) -> Any:
        script = self._scripts.get(source)
        if script is None:
            script = self._scripts[source] = self.client.register_script(source)
        return await self.run(script(keys=keys, args=values))

    def away(self, error: BaseException) -> StoreAway:
        now = time.monotonic()
        if now > self._reported + REPORT_INTERVAL:
            self._reported = now
            logger.error("%s", self._failure(error))
        return StoreAway()

    async def check(self) -> None:
        """
        Raises:
            StoreError: Redis does not answer, or cannot be written.
        """
        from redis.exceptions import RedisError

        if self._client is None:
            raise StoreError(f"store {hidden(self.url)} is closed", "start the server")
        try:
            await self._client.set(self.key("check"), 1, ex=60)
        except (RedisError, OSError, TimeoutError) as error:
            raise self._failure(error) from error

    def _failure(self, error: BaseException) -> StoreError:
        from redis import exceptions

        name, text = hidden(self.url), str(error)
        causes: tuple[tuple[bool, str, str], ...] = (
            (
                "NOAUTH" in text or isinstance(error, exceptions.AuthenticationError),
                "needs a password, or another one",
                "write redis://:PASSWORD@host:6379/0, or redis://USER:PASSWORD@…",
            ),
            (
                isinstance(error, exceptions.NoPermissionError),
                f"does not permit this user a command: {text}",
                "grant it: ACL SETUSER … +@all ~assay:*",
            ),
            (isinstance(error, exceptions.OutOfMemoryError), "is out of memory", "raise its maxmemory"),
            (isinstance(error, exceptions.ReadOnlyError), "is read-only", "name its primary"),
            (isinstance(error, exceptions.BusyLoadingError), "is loading its data", "wait until it has"),
            (
                isinstance(error, exceptions.TimeoutError | TimeoutError),
                f"did not answer within {TIMEOUT:g} s",
                "check that it runs and is not overloaded",
            ),
            (
                isinstance(error, exceptions.ConnectionError | OSError),
                "cannot be reached",
                "check that it runs, and its host, port and TLS",
            ),
        )
        for applies, problem, fix in causes:
            if applies:
                return StoreError(f"store {name} {problem}", fix)
        return StoreError(f"store {name} refused a command: {text:.200}", "see the log of Redis")


def make_client(url: str) -> Redis:
    """
    Raises:
        StoreError: the URL is wrong.
        MissingExtra: the package is not installed.
    """
    try:
        from redis.asyncio import BlockingConnectionPool, Redis
        from redis.asyncio.retry import Retry
        from redis.asyncio.sentinel import Sentinel
        from redis.backoff import NoBackoff
    except ImportError:
        raise MissingExtra('Redis needs its client: pip install "assay-mcp[redis]"') from None

    options: dict[str, Any] = {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT}
    # A command that got no answer may have been carried out: only a new connection is tried again.
    options["retry"] = Retry(NoBackoff(), 0)
    try:
        if "+sentinel" in url.partition(":")[0]:
            hosts, service, own = read_sentinel(url)
            sentinel: Any = Sentinel(hosts, sentinel_kwargs=options, **{**options, **own})  # type: ignore[no-untyped-call]
            return cast("Redis", sentinel.master_for(service))
        pool = BlockingConnectionPool.from_url(
            url, max_connections=CONNECTIONS, timeout=TIMEOUT, health_check_interval=30, **options
        )
    except (ValueError, TypeError) as error:
        raise StoreError(f"not the URL of a Redis: {hidden(url)!r:.120}", FORM) from error
    return Redis.from_pool(pool)


def make_blocking_client(url: str) -> Any:
    from redis import Redis
    from redis.sentinel import Sentinel

    options: dict[str, Any] = {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT}
    if "+sentinel" in url.partition(":")[0]:
        hosts, service, own = read_sentinel(url)
        sentinel: Any = Sentinel(hosts, sentinel_kwargs=options, **{**options, **own})  # type: ignore[no-untyped-call]
        return sentinel.master_for(service)
    return Redis.from_url(url, **options)


def read_sentinel(url: str) -> tuple[list[tuple[str, int]], str, dict[str, Any]]:
    """Addresses of sentinels, the service, and options of the connections to it.

    Raises:
        ValueError: something is missing or no number.
    """
    scheme, _, rest = url.partition("://")
    access, _, place = rest.rpartition("@")
    names, _, path = place.partition("/")
    service, _, number = path.partition("/")
    if not names or not service:
        raise ValueError("no sentinel or no service")
    hosts = []
    for name in names.split(","):
        host, _, port = name.partition(":")
        hosts.append((host, int(port or SENTINEL_PORT)))
    options: dict[str, Any] = {"db": int(number or 0), "ssl": scheme.startswith("rediss")}
    user, separator, password = access.partition(":")
    if separator:
        options |= {"username": unquote(user) or None, "password": unquote(password)}
    return hosts, service, options


def read_prefix(url: str) -> tuple[str, str]:
    """The URL without our own option, and the prefix of all keys.

    Raises:
        StoreError: the URL has no host, or the prefix cannot be part of a key.
    """
    parts = urlsplit(url)
    if not parts.netloc:
        raise StoreError(f"not the URL of a Redis: {hidden(url)!r:.120}", FORM)
    query = parse_qsl(parts.query, keep_blank_values=True)
    prefix = dict(query).get("prefix", "assay")
    if not prefix.isascii() or not prefix.isalnum():
        raise StoreError(
            f"the prefix of keys is not letters and digits: {prefix!r:.40}", "write ?prefix=notes"
        )
    left = "&".join(f"{name}={value}" for name, value in query if name != "prefix")
    return parts._replace(query=left).geturl(), prefix
