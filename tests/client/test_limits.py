"""Lists and notifications that a hostile server sends without end."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from assay import Client, ClientLimits, InvalidAnswer
from assay.client.callback import CallbackQueue
from tests.client.scripted import process


def pages(next_cursor: str, tools: str = "[]") -> Any:
    return process(
        "number = 0\n"
        "for message in messages():\n"
        "    number += 1\n"
        f"    answer(message, {{'tools': {tools}, 'nextCursor': {next_cursor}}})"
    )


async def test_pages_without_end_are_stopped_by_a_limit() -> None:
    async with Client(pages("str(number)"), limits=ClientLimits(pages=7)) as client:
        with pytest.raises(InvalidAnswer, match="more than 7 pages"):
            await client.tools()


async def test_a_cursor_that_repeats_is_an_error() -> None:
    async with Client(pages("'same'")) as client:
        with pytest.raises(InvalidAnswer, match="the server repeats a cursor"):
            await client.tools()


async def test_entries_without_end_are_stopped_by_a_limit() -> None:
    tool = "{'name': 'x', 'inputSchema': {'type': 'object'}}"
    async with Client(pages("str(number)", f"[{tool}] * 10"), limits=ClientLimits(items=25)) as client:
        with pytest.raises(InvalidAnswer, match="more than 25 entries"):
            await client.tools()


async def test_an_invalid_entry_is_named_by_its_place() -> None:
    async with Client(pages("None", "[{'name': 3}]")) as client:
        with pytest.raises(InvalidAnswer, match=r"tools/list is invalid: .*\$\.tools\[0\]\.name"):
            await client.tools()


async def test_fields_of_later_revisions_are_accepted() -> None:
    tool = (
        "{'name': 'x', 'inputSchema': {}, 'new': 1, 'annotations': {'newHint': True, 'readOnlyHint': True}}"
    )
    async with Client(pages("None", f"[{tool}]")) as client:
        annotations = (await client.tools())[0].annotations
        assert annotations is not None and annotations.read_only_hint


async def test_an_unknown_type_of_result_is_an_error() -> None:
    target = process("for message in messages(): answer(message, {'resultType': 'task', 'taskId': '1'})")
    async with Client(target) as client:
        with pytest.raises(InvalidAnswer, match="an unknown type: task"):
            await client.call("anything")


async def test_an_invalid_tool_result_is_an_error_with_its_place() -> None:
    target = process("for message in messages(): answer(message, {'content': [{'type': 'video'}]})")
    async with Client(target) as client:
        with pytest.raises(InvalidAnswer, match=r"tools/call of anything is invalid: .*video.*\$\.content"):
            await client.call("anything")


async def test_notifications_for_a_slow_callback_are_dropped_beyond_the_limit(
    caplog: pytest.LogCaptureFixture,
) -> None:
    queue, release, received = CallbackQueue(3), asyncio.Event(), []

    async def slow(number: int) -> None:
        await release.wait()
        received.append(number)

    with caplog.at_level(logging.WARNING, "assay.client"):
        for number in range(10):
            queue.post(slow, number)
    release.set()
    await queue.flush()
    assert received == [0, 1, 2, 3]
    assert caplog.text.count("notifications are dropped") == 1


async def test_callbacks_run_in_order_and_survive_exceptions(caplog: pytest.LogCaptureFixture) -> None:
    queue, received = CallbackQueue(10), []

    async def later(number: int) -> None:
        received.append(number)
        if number == 1:
            raise ValueError("the user's mistake")

    def at_once(number: int) -> None:
        received.append(number)
        if number == 2:
            raise ValueError("another mistake")

    for number in range(4):
        queue.post(at_once if number % 2 == 0 else later, number)
    await queue.flush()
    assert received == [0, 1, 2, 3]
    assert "the user's mistake" in caplog.text and "another mistake" in caplog.text


async def test_a_callback_may_wait_for_calls_with_progress() -> None:
    queue = CallbackQueue(10)
    done = asyncio.Event()

    async def callback(number: int) -> None:
        await queue.flush()
        done.set()

    queue.post(callback, 1)
    async with asyncio.timeout(2):
        await done.wait()


async def test_closing_ends_a_callback_that_runs() -> None:
    queue, ended = CallbackQueue(10), asyncio.Event()

    async def for_ever(number: int) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.set()

    queue.post(for_ever, 1)
    queue.post(for_ever, 2)
    await asyncio.wait([asyncio.create_task(queue.flush())], timeout=0.01)
    await queue.close()
    assert ended.is_set()


@pytest.mark.parametrize("name", ClientLimits.__struct_fields__)
def test_limits_must_be_positive(name: str) -> None:
    with pytest.raises(ValueError, match=f"limits.{name} must be greater than zero"):
        ClientLimits(**{name: 0})
