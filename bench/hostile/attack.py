"""The attacks: each sends its input until it is stopped. `python -m bench.hostile.attack NAME PORT SECONDS`.

Prints, as JSON, how often it sent its input and how many responses claimed success without content.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from math import inf
from typing import Final

from .wire import ATTACKER, LARGE, call, connect, initialize, listen, post, read_response, text_frame, upgrade

RESET: Final = struct.pack("ii", 1, 0)
"""The value of SO_LINGER that makes `close` reset the connection."""
SMALL_CALL: Final = post(call("add", a=1, b=2))


@dataclass
class Tally:
    sent: int = 0
    empty: int = 0
    refused: int = 0


Attack = Callable[[int, Tally], Awaitable[None]]


@dataclass(frozen=True)
class Plan:
    title: str
    attack: Attack
    connections: int
    """How many run at once."""
    most: int | None = None
    """Stop after so many."""
    most_memory: float = 60
    """Megabytes that the server may keep; the allocator does not return all that bodies in progress took."""
    most_peak: float = inf
    """Megabytes that it may use meanwhile."""
    longest_call: float = inf
    """Seconds that a call of a `def` tool may take meanwhile."""


async def _ask(port: int, tally: Tally, data: bytes) -> None:
    """Send one request on a new connection and read the answer."""
    reader, writer = await connect(port, ATTACKER)
    try:
        writer.write(data)
        response = await read_response(reader)
        tally.empty += response.is_empty
        tally.refused += response.status >= 400
    finally:
        writer.close()


async def _hang_up(port: int, data: bytes, *, answer_first: bool = False) -> None:
    """Send data and reset the connection."""
    reader, writer = await connect(port, ATTACKER)
    writer.write(data)
    await writer.drain()
    if answer_first:
        await reader.readuntil(b"\r\n\r\n")
    sock: socket.socket = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.close()


async def _hold(port: int, data: bytes) -> None:
    """Send data, and keep the connection open."""
    reader, writer = await connect(port, ATTACKER)
    try:
        writer.write(data)
        while await reader.read(65536):
            pass
    finally:
        writer.close()


async def brackets(port: int, tally: Tally) -> None:
    await _ask(port, tally, post(b"[" * LARGE))


async def escapes(port: int, tally: Tally) -> None:
    await _ask(port, tally, post(b"[" * 65 + b'"' + rb"\"" * (LARGE // 2 - 40) + b'"'))


async def large_initialize(port: int, tally: Tally) -> None:
    await _ask(port, tally, post(initialize(LARGE - 1024)))


async def small_initialize(port: int, tally: Tally) -> None:
    reader, writer = await connect(port, ATTACKER)
    try:
        for _ in range(100):
            writer.write(post(initialize()))
            response = await read_response(reader)
            tally.sent += 1
            tally.empty += response.is_empty
            tally.refused += response.status >= 400
    finally:
        writer.close()


async def abandoned_calls(port: int, tally: Tally) -> None:
    await _hang_up(port, post(call("slow", seconds=0.5)))


async def connection_churn(port: int, tally: Tally) -> None:
    """Without streams, which cost the attacker more than a connection costs the server, and with a reset, so
    that it does not run out of ports."""
    loop = asyncio.get_running_loop()
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        sock.setblocking(False)
        sock.bind((ATTACKER, 0))
        await loop.sock_connect(sock, ("127.0.0.1", port))
        await loop.sock_sendall(sock, SMALL_CALL)
        answer = await loop.sock_recv(sock, 65536)
        tally.refused += not answer.startswith(b"HTTP/1.1 200 ")


async def listen_streams(port: int, tally: Tally) -> None:
    await _hold(port, listen())


async def unfinished_bodies(port: int, tally: Tally) -> None:
    await _hold(port, post(b" " * (LARGE - 1024), length=LARGE))


async def closed_websockets(port: int, tally: Tally) -> None:
    message = text_frame(call("wait", seconds=1, padding="x" * 1_000_000))
    reader, writer = await connect(port, ATTACKER)
    writer.write(upgrade())
    await reader.readuntil(b"\r\n\r\n")
    writer.write(message * 2)
    await writer.drain()
    writer.close()


async def _flood(port: int, tally: Tally, data: bytes) -> None:
    """Send data on one WebSocket, again and again, and discard what comes back."""
    reader, writer = await connect(port, ATTACKER)
    try:
        writer.write(upgrade())
        await reader.readuntil(b"\r\n\r\n")
        discard = asyncio.create_task(_discard(reader))
        while not discard.done():
            writer.write(data)
            await writer.drain()
            tally.sent += 1
    finally:
        writer.close()


async def _discard(reader: asyncio.StreamReader) -> None:
    while await reader.read(65536):
        pass


async def large_messages(port: int, tally: Tally) -> None:
    await _flood(port, tally, text_frame(b"[" * LARGE))


async def small_frames(port: int, tally: Tally) -> None:
    await _flood(port, tally, b"\x01\x80" + bytes(4) + (b"\x00\x81" + bytes(4) + b" ") * 10_000)


async def hang_ups(port: int, tally: Tally) -> None:
    await _hang_up(port, post(call("wait", seconds=1, padding="x" * 2_000_000)))


PLANS: Final = {
    "brackets": Plan("4 MiB of opening brackets", brackets, 4),
    "escapes": Plan("4 MiB of escaped quotes", escapes, 4),
    "large-initialize": Plan("initialize of 4 MiB", large_initialize, 2, 300),
    "small-initialize": Plan("small initialize", small_initialize, 8),
    "abandoned-calls": Plan("calls of a slow def tool, abandoned", abandoned_calls, 16, 2000, longest_call=1),
    "listen-streams": Plan("listen streams, held open", listen_streams, 1500, 1500),
    "unfinished-bodies": Plan("bodies of 4 MiB without their end", unfinished_bodies, 250, 250, 256, 256),
    "closed-websockets": Plan("WebSockets closed during a call", closed_websockets, 8, 1400),
    "connection-churn": Plan("connections for one call each", connection_churn, 16),
    "large-messages": Plan("WebSocket messages of 4 MiB", large_messages, 4),
    "small-frames": Plan("WebSocket messages in frames of one byte", small_frames, 4),
    "hang-ups": Plan("connections reset during a call", hang_ups, 8, 800),
}


async def run(plan: Plan, port: int, seconds: float) -> Tally:
    tally = Tally()

    async def repeat() -> None:
        while plan.most is None or tally.sent < plan.most:
            tally.sent += 1
            try:
                await plan.attack(port, tally)
            except (OSError, asyncio.IncompleteReadError):
                tally.refused += 1

    attackers = [asyncio.create_task(repeat()) for _ in range(plan.connections)]
    _, running = await asyncio.wait(attackers, timeout=seconds)
    for task in running:
        task.cancel()
    await asyncio.gather(*attackers, return_exceptions=True)
    return tally


if __name__ == "__main__":
    name, port, seconds = sys.argv[1:]
    print(json.dumps(asdict(asyncio.run(run(PLANS[name], int(port), float(seconds))))))
