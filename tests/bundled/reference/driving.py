"""Clients of a reference server for tests."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from assay import Scope, Server
from assay.revisions.revision import Revision
from tests.driving.client import Client, connect
from tests.driving.describing import describe

OWN_METHODS = {"models/list", "models/select", "metadata/get"}


@asynccontextmanager
async def client_of(
    server: Server, revision: Revision, transport: str = "memory", **options: Any
) -> AsyncIterator[Client]:
    """An initialized client; the official types validate every message it receives."""
    async with connect(server, transport, revision, **options) as client:
        client.own_methods |= OWN_METHODS
        yield client


async def ask_described(server: Server, method: str, principal: Any = None, **params: Any) -> Any:
    """The answer to a request without a session that declares its client."""
    answer = await server.handle(describe(method, params), scope=Scope(principal=principal))
    assert answer is not None
    return json.loads(answer)


async def every(client: Client, kind: str) -> list[dict[str, Any]]:
    """All components of a kind, page by page."""
    page = await client.result(f"{kind}/list")
    items: list[dict[str, Any]] = page[kind]
    while "nextCursor" in page:
        page = await client.result(f"{kind}/list", {"cursor": page["nextCursor"]})
        items += page[kind]
    return items


def text_of(result: dict[str, Any]) -> str:
    """The text of a tool's only block."""
    (block,) = result["content"]
    text: str = block["text"]
    return text
