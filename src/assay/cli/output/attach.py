"""`--attach`: prints the address of the server, and waits until a person has operated their client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from assay.lab.harness.scripted_server.client import ClientSetup

from .stream import say


class Attach:
    """Ctrl-C ends the client's turn. Once more, it stops the run."""

    def __init__(self) -> None:
        self._done: asyncio.Event | None = None

    async def invite(self, setup: ClientSetup, limit: float) -> None:
        for line in instructions(setup, limit):
            say(line)
        self._done = asyncio.Event()
        await self._done.wait()

    def interrupt(self, stop: Callable[[], None]) -> Callable[[], None]:
        def pressed() -> None:
            if self._done is None or self._done.is_set():
                stop()
            else:
                self._done.set()

        return pressed


def instructions(setup: ClientSetup, limit: float) -> list[str]:
    place = f"MCP endpoint: {setup.url}" if setup.url else f"stdio server: {setup.server}"
    steps = [f"  {_step(step)}" for step in setup.context.get("steps", ())]
    return [
        place,
        f"scenario {setup.scenario} at revision {setup.revision}",
        *(["connect your client, and do this:", *steps] if steps else ["connect your client"]),
        f"then press Ctrl-C to judge it; after {limit:g} s it is judged in any case",
    ]


def _step(step: dict[str, Any]) -> str:
    arguments = ", ".join(f"{key}: {_value(value)}" for key, value in step.items() if key != "do")
    name = str(step.get("do")).replace("_", " ")
    return f"{name} ({arguments})" if arguments else name


def _value(value: Any) -> str:
    """JSON, to be pasted into a client; names without quotes."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
