"""A TCP relay that cuts a connection at a mark in a response, as a failing network would.

A response with `cut-here:<token>;` is passed on up to that point, then both ends are closed. The same token
cuts only once, so a client that reconnects gets the rest.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

from interop.tcp_relay import TcpRelay, Watcher

MARK = re.compile(rb"cut-here:([0-9a-zA-Z-]+);")
# Bytes to keep, because a chunk boundary may split a mark.
MARK_LENGTH = 64


class Relay(TcpRelay):
    """`cuts` lists the tokens that cut a connection."""

    def __init__(self, host: str, target: int) -> None:
        super().__init__(host, target)
        self.cuts: list[str] = []

    def watchers(self) -> tuple[Watcher, Watcher]:
        window = b""

        def has_mark(chunk: bytes) -> bool:
            nonlocal window
            window = window[-MARK_LENGTH:] + chunk
            fresh = [token for match in MARK.findall(window) if (token := match.decode()) not in self.cuts]
            self.cuts += fresh
            return bool(fresh)

        return lambda chunk: False, has_mark


@asynccontextmanager
async def relayed(url: str) -> AsyncIterator[tuple[str, Relay]]:
    """Yield a URL that leads to `url` through a relay, and the relay."""
    parts = urlsplit(url)
    assert parts.hostname is not None and parts.port is not None, url
    relay = Relay(parts.hostname, parts.port)
    async with relay.listening():
        yield urlunsplit(parts._replace(netloc=f"localhost:{relay.port}")), relay
