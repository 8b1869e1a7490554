"""The stores that contract tests run over."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from .stores import Stores

KINDS = ("memory", "sqlite", "redis")


async def _opened(kind: str, request: pytest.FixtureRequest, directory: Path) -> AsyncIterator[Stores]:
    port = request.getfixturevalue("redis_port") if kind == "redis" else 0
    stores = Stores(kind, directory, port)
    yield stores
    await stores.close()


@pytest.fixture(params=KINDS)
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stores]:
    """Each kind of store."""
    async for opened in _opened(request.param, request, tmp_path):
        yield opened


@pytest.fixture(params=KINDS[1:])
async def shared_stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stores]:
    """Each kind of store that several processes can use."""
    async for opened in _opened(request.param, request, tmp_path):
        yield opened
