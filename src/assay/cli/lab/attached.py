"""`assay client --attach`: nothing is started. Whoever judges a client by hand is told where to send it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from typing import Any

from assay.lab.harness.scripted_server.client import ATTACHED, Ended, Invitation
from assay.lab.harness.transport import Transport


class AttachedClient:
    """Comes and goes by itself: the visit is over when its user says so, or when the time is."""

    name = ATTACHED

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def run(self, invitation: Invitation, limit: float) -> Ended:
        for line in told(invitation, limit):
            print(line, file=sys.stderr, flush=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit):
                await _interrupted()
        return Ended(None)


def told(invitation: Invitation, limit: float) -> list[str]:
    place = f"MCP endpoint: {invitation.url}" if invitation.url else f"stdio server: {invitation.server}"
    steps = [f"  {_step(step)}" for step in invitation.context.get("steps", ())]
    return [
        place,
        f"scenario {invitation.scenario} at revision {invitation.revision}",
        *(["let your client connect, and do this:", *steps] if steps else ["let your client connect"]),
        f"then press Ctrl-C to judge it; it is judged after {limit:g} s in any case",
    ]


def _step(step: dict[str, Any]) -> str:
    more = ", ".join(f"{key}: {_told(value)}" for key, value in step.items() if key != "do")
    name = str(step.get("do")).replace("_", " ")
    return f"{name} ({more})" if more else name


def _told(value: Any) -> str:
    """JSON, to be pasted into a client; names without quotes."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


async def _interrupted() -> None:
    """Until Ctrl-C, which here ends the visit and not the run."""
    loop = asyncio.get_running_loop()
    pressed = asyncio.Event()
    before = signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, pressed.set)
    try:
        await pressed.wait()
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
