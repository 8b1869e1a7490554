"""A list of tools comes one byte at a time, and its letters have several."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from assay.lab.client.checks.hostile.slow_bytes import TITLE
from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.hostility import ECHO, add_shaped, answer_to
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief
from assay.lab.harness.scripted_server.http_listener import HttpChannel
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.transport import Transport
from assay.protocol.framing import lines, sse, websocket

PAUSE = 0.001
"""Seconds between two bytes."""


@client_scenario(
    "A message that comes byte by byte is understood",
    brief=Brief(steps=(LIST_TOOLS, ECHO)),
    exercises=("hostile.slow-bytes",),
)
async def drive(stage: ClientStage) -> None:
    add_shaped(stage.host, TITLE)

    @stage.host.on("tools/list")
    async def tools(cycle: RequestCycle) -> Answer:
        whole, write = await _way(cycle, answer_to(cycle, {"tools": cycle.host.items["tools"]}))
        for place in range(len(whole)):
            await write(whole[place : place + 1])
            await asyncio.sleep(PAUSE)
        await cycle.channel.finish()
        return DONE


async def _way(cycle: RequestCycle, body: bytes) -> tuple[bytes, Callable[[bytes], Awaitable[None]]]:
    """The message as the transport frames it, and how to send it in pieces. The trace has it whole."""
    channel, record = cycle.channel, cycle.host.recorder.record
    if isinstance(channel, HttpChannel):
        await channel.http.stream()
        block = sse.event(body)
        record(Sender.DRIVER, channel.http.channel, Kind.EVENT, block)
        return b"%x\r\n%b\r\n" % (len(block), block), channel.http.write
    if cycle.host.transport is Transport.WEBSOCKET:
        record(Sender.DRIVER, f"{channel.connection}/ws", Kind.TEXT, body)
        return websocket.text_frame(body), _written(channel.raw)
    return lines.frame(body), _written(channel.raw)


def _written(raw: Callable[[bytes], Awaitable[None]]) -> Callable[[bytes], Awaitable[None]]:
    async def write(data: bytes) -> None:
        await raw(data)

    return write
