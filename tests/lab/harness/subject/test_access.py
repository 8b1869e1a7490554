"""Shared access is concurrent; exclusive access is not."""

import asyncio

from assay.lab.harness.subject.access import Access


async def let_tasks_start() -> None:
    """Tasks start in the order of creation: when a new one is done, the earlier ones wait."""

    async def nothing() -> None:
        pass

    await asyncio.create_task(nothing())


async def test_shared_access_does_not_wait_for_shared_access() -> None:
    access = Access()
    async with access.shared(), access.shared():
        pass


async def test_exclusive_access_waits_for_all_shared_access() -> None:
    access, order = Access(), list[str]()

    async def write() -> None:
        async with access.exclusive():
            order.append("alone")

    async with access.shared():
        writing = asyncio.create_task(write())
        await let_tasks_start()
        order.append("read")
    await writing
    assert order == ["read", "alone"]


async def test_waiting_exclusive_access_goes_before_new_shared_access() -> None:
    access, order = Access(), list[str]()

    async def write() -> None:
        async with access.exclusive():
            order.append("alone")

    async def read() -> None:
        async with access.shared():
            order.append("read")

    async with access.shared():
        tasks = [asyncio.create_task(write())]
        await let_tasks_start()
        tasks.append(asyncio.create_task(read()))
        await let_tasks_start()
    await asyncio.gather(*tasks)
    assert order == ["alone", "read"]


async def test_cancelled_wait_for_exclusive_access_blocks_nothing() -> None:
    access = Access()
    async with access.shared():
        waiting = asyncio.create_task(access.exclusive().__aenter__())
        await let_tasks_start()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        async with access.shared():
            pass
    async with access.exclusive():
        pass
