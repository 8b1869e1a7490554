"""The connection to Redis."""

from __future__ import annotations

import asyncio

from assay.model.error import StoreAway
from assay.store.redis.link import RedisLink


async def test_a_command_that_runs_at_the_end_leaves_no_connection(redis_port: int) -> None:
    link = RedisLink(f"redis://127.0.0.1:{redis_port}/0", "assay-test")
    await link.open()
    client = link.client
    waiting = [asyncio.create_task(link.run(client.blpop(link.key("none"), timeout=0.2))) for _ in range(3)]
    while len(await client.client_list(_type="normal")) < 4:
        await link.check()
    await link.close()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(result is None or isinstance(result, StoreAway) for result in results)
    assert not [
        connection for connection in client.connection_pool._available_connections if connection.is_connected
    ]
