"""What each client does, whichever software it is: the same calls, in an order that a seed decides."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

from .history import Recorder

EVENTS: Final = 12
MIX: Final = ("add", "add", "read", "stream", "stream")
"""Tools to call; clients that answer questions call `draw` as well."""


class Caller(Protocol):
    """A connected client. Its methods record events and questions as they arrive."""

    async def call(self, tool: str, arguments: dict[str, object]) -> tuple[str, bool, str]:
        """Returns `ok` or `error`, whether the server answered, and the value or the text of the error."""


async def run_calls(
    caller: Caller,
    recorder: Recorder,
    *,
    seed: int,
    tools: Sequence[str],
    going: Callable[[], bool],
    pause: Callable[[float], Awaitable[None]],
) -> None:
    """Call until the time is up, one after the other. The session is marked first, and the mark compared in
    the end."""
    choice = random.Random(f"{seed} {recorder.by}")
    mark = f"mark of {recorder.by}"
    marked = "stream" in tools and await patiently(caller, "mark", {"text": mark}, pause) == mark
    while going():
        await one_call(caller, recorder, recorder.next_call(), choice.choice(tools))
        await pause(choice.uniform(0.1, 0.5))
    if marked and not recorder.broke:
        recorder.note("marked", value=await patiently(caller, "marked", {}, pause), expected=mark)


async def one_call(caller: Caller, recorder: Recorder, call: str, tool: str) -> str:
    recorder.note("invoke", call=call, tool=tool)
    arguments: dict[str, object] = {"call": call, **({"count": EVENTS} if tool == "stream" else {})}
    kind, from_server, value = "error", False, "the client broke off"
    try:
        kind, from_server, value = await caller.call(tool, arguments)
    finally:
        recorder.note(kind, call=call, value=value, from_server=from_server)
    return kind


async def patiently(
    caller: Caller, tool: str, arguments: dict[str, object], pause: Callable[[float], Awaitable[None]]
) -> str:
    """The value of a call that is repeated if its worker was killed."""
    value = ""
    for _ in range(20):
        kind, _, value = await caller.call(tool, arguments)
        if kind == "ok":
            return value
        await pause(0.3)
    return f"error: {value}"
