"""The rows of the table: a fault of a server or of the network, and what the user's code sees."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, NamedTuple

from assay import Client, ClientError, ClientLimits, ClientState, Retry
from tests.driving.answer import PATIENCE

LIMITS: Final = ClientLimits(
    message_bytes=10_000,
    head_bytes=4096,
    close_timeout=0.3,
)
HASTY: Final = ClientLimits(connect_timeout=0.2, probe_timeout=0.2, close_timeout=0.3)
"""For servers that do not answer. Others get time, also on a busy machine."""
RETRY: Final = Retry(first=0.01, longest=0.02, deadline=0.2)


class Outcome(NamedTuple):
    """`error` is None if the call succeeded."""

    error: ClientError | None
    state: ClientState
    following: str
    """What the next call returned or raised; empty if the client was never open."""


Target = Callable[[], AbstractAsyncContextManager[Any]]
Run = Callable[[], Awaitable[Outcome]]


class Fault(NamedTuple):
    fault: str
    error: type[ClientError] | None
    text: str
    """Part of the error's text."""
    state: ClientState
    following: str
    run: Run


WORKS: Final = "works"


def opening(fault: str, error: type[ClientError], text: str, target: Target, **options: Any) -> Fault:
    """A fault that the client meets when it is opened."""

    async def run() -> Outcome:
        async with target() as place:
            client = Client(place, **{"limits": LIMITS, "retry": RETRY, "timeout": PATIENCE, **options})
            try:
                await client.open()
            except ClientError as problem:
                return Outcome(problem, client.state, "")
            await client.close()
            return Outcome(None, client.state, "")

    return Fault(fault, error, text, ClientState.FAILED, "", run)


def calling(
    fault: str,
    error: type[ClientError] | None,
    text: str,
    target: Target,
    *,
    state: ClientState = ClientState.OPEN,
    following: str = WORKS,
    **options: Any,
) -> Fault:
    """A fault that a tool call meets. `following` is what `tools()` does then."""

    async def run() -> Outcome:
        settings = {"limits": LIMITS, "retry": RETRY, "timeout": PATIENCE, **options}
        async with target() as place, Client(place, **settings) as client:
            problem = await failure_of(client.call("anything"))
            state_after = client.state
            after = await failure_of(client.tools())
        return Outcome(problem, state_after, WORKS if after is None else type(after).__name__)

    return Fault(fault, error, text, state, following, run)


async def failure_of(call: Awaitable[Any]) -> ClientError | None:
    try:
        await call
    except ClientError as error:
        return error
    return None
