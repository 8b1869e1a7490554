"""A TCP relay that cuts a connection where the server's words tell it to, as a failing network would.

A response that holds `cut-here:<token>;` is passed on up to that point, then both ends are closed; the same
token never cuts twice, so the client that returns for the rest gets it. Without the mark it only relays.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

from interop.between import Between, Look

MARK = re.compile(rb"cut-here:([0-9a-zA-Z-]+);")
# What may still belong to a mark that a chunk boundary split.
MARK_LENGTH = 64


class Relay(Between):
    """`cuts` lists the tokens that have cut a connection."""

    def __init__(self, host: str, target: int) -> None:
        super().__init__(host, target)
        self.cuts: list[str] = []

    def looks(self) -> tuple[Look, Look]:
        seen = b""

        def has_mark(chunk: bytes) -> bool:
            nonlocal seen
            seen = seen[-MARK_LENGTH:] + chunk
            fresh = [token for match in MARK.findall(seen) if (token := match.decode()) not in self.cuts]
            self.cuts += fresh
            return bool(fresh)

        return lambda chunk: False, has_mark


@asynccontextmanager
async def relayed(url: str) -> AsyncIterator[tuple[str, Relay]]:
    """Give a URL that leads to `url` through a relay, and the relay."""
    parts = urlsplit(url)
    assert parts.hostname is not None and parts.port is not None, url
    relay = Relay(parts.hostname, parts.port)
    async with relay.listening():
        yield urlunsplit(parts._replace(netloc=f"localhost:{relay.port}")), relay
