"""The server that is attacked. It notes what its handlers do in a file, which survives the process."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import time
from dataclasses import dataclass
from typing import Any, Final

from assay import Context, Server

NOTES: Final = os.open(os.environ["NEMESIS_NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
server = Server("nemesis", "1.0.0")


@dataclass
class Answer:
    sure: bool


def note(kind: str, call: str, **more: Any) -> None:
    """One write: another process may append at the same time, and this one may be killed after it."""
    line = {"t": time.monotonic(), "kind": kind, "call": call, "pid": os.getpid(), **more}
    os.write(NOTES, json.dumps(line).encode() + b"\n")


@server.tool
async def add(call: str) -> str:
    """Has an effect, so it may run only once."""
    note("ran", call)
    await asyncio.sleep(0.02)
    return call


@server.tool(annotations={"readOnlyHint": True, "idempotentHint": True})
async def read(call: str) -> str:
    """May run again."""
    note("ran", call)
    await asyncio.sleep(0.02)
    return call


@server.tool
async def stream(call: str, count: int, ctx: Context) -> str:
    """Sends numbered messages. One is noted as sent once the server has accepted it."""
    note("ran", call)
    for number in range(1, count + 1):
        await ctx.log("info", {"call": call, "number": number, "pid": os.getpid()})
        note("sent", call, number=number)
        await asyncio.sleep(0.05)
    return call


@server.tool
async def draw(call: str, ctx: Context) -> str:
    """Draws a number once, and asks about it."""

    def drawn() -> str:
        value = secrets.token_hex(4)
        note("drew", call, value=value)
        return value

    value = await ctx.once("draw", drawn)
    await ctx.elicit(f"{call} {value}", Answer)
    return str(value)


@server.tool
async def mark(text: str, ctx: Context) -> str:
    """Kept in the session."""
    ctx.session["mark"] = text
    return text


@server.tool
async def marked(ctx: Context) -> str:
    return str(ctx.session.get("mark", ""))
