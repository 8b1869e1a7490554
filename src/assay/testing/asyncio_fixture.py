"""Fixtures that open a client in the event loops of pytest-asyncio: one for each scope of a loop."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import pytest_asyncio

from .plugin import ASYNC_SCOPES

if TYPE_CHECKING:
    from assay import Client

    from .client import RecordingClient


def _fixture(loop_scope: Any) -> Any:
    @pytest_asyncio.fixture(name=f"_assay_client_{loop_scope}", loop_scope=loop_scope)
    async def opened(_assay_unopened: RecordingClient) -> AsyncIterator[Client]:
        from .setting import open_client

        client = await open_client(_assay_unopened)
        try:
            yield client
        finally:
            await client.close()

    return opened


globals().update({f"opened_{scope}": _fixture(scope) for scope in ASYNC_SCOPES})
