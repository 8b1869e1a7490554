"""How tasks fail, what clients see of them, and waiting for a change."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from msgspec import Raw

from assay.model.error import RpcError
from assay.model.jsonrpc import ErrorBody
from assay.model.task import Status, TaskRecord
from assay.protocol.codec import error_reply
from assay.protocol.task import moved

from .task_run import Change


async def wait_for(event: asyncio.Event, seconds: float | None) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass


def visible_state(record: TaskRecord) -> object:
    """What clients are notified of when it changes."""
    return record.status, record.message, tuple(record.questions)


def failed_with(failure: RpcError) -> Change:
    body: ErrorBody = error_reply(failure, None).error
    return lambda record, now: moved(record, Status.FAILED, now, error=body, message=failure.message[:1024])


def readable(result: Raw) -> Any:
    """A stored result, in a form to which a `_meta` can be added."""
    return result if bytes(result).find(b'"_meta"') < 0 else msgspec.json.decode(result)
