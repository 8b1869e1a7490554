"""Many look on at once; who changes something is alone."""

import asyncio

from assay.lab.harness.subject.access import Access


async def others_have_begun() -> None:
    """Tasks begin in the order in which they were made: a new one is done when the earlier ones wait."""

    async def nothing() -> None:
        pass

    await asyncio.create_task(nothing())


async def test_those_who_look_on_do_not_wait_for_each_other() -> None:
    access = Access()
    async with access.together(), access.together():
        pass


async def test_who_wants_to_be_alone_waits_for_all_who_look_on() -> None:
    access, order = Access(), list[str]()

    async def write() -> None:
        async with access.alone():
            order.append("alone")

    async with access.together():
        writing = asyncio.create_task(write())
        await others_have_begun()
        order.append("looked")
    await writing
    assert order == ["looked", "alone"]


async def test_who_waits_to_be_alone_goes_before_those_who_come_to_look() -> None:
    access, order = Access(), list[str]()

    async def write() -> None:
        async with access.alone():
            order.append("alone")

    async def look() -> None:
        async with access.together():
            order.append("looked")

    async with access.together():
        tasks = [asyncio.create_task(write())]
        await others_have_begun()
        tasks.append(asyncio.create_task(look()))
        await others_have_begun()
    await asyncio.gather(*tasks)
    assert order == ["alone", "looked"]


async def test_who_gives_up_waiting_keeps_nobody_out() -> None:
    access = Access()
    async with access.together():
        waiting = asyncio.create_task(access.alone().__aenter__())
        await others_have_begun()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        async with access.together():
            pass
    async with access.alone():
        pass
