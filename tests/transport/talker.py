"""A server for the stdio tests, run as a process: tools that misbehave around standard input and output."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path

from assay import Context, Limits, Server

print("printed before the server runs")  # remains in the buffer of a pipe

server = Server("talker", limits=Limits(drain=0.3, message_bytes=100_000))
met = asyncio.Event()
waiting: list[int] = []


@server.tool
async def echo(text: str) -> str:
    return text


@server.tool
async def chatter() -> str:
    print("printed by a tool")
    sys.stdout.write("written by a tool\n")
    os.write(1, b"written to descriptor 1\n")
    return "quiet"


@server.tool
def child() -> str:
    """Start a process that writes to its inherited standard output, and reads its input."""
    code = "import sys; print('printed by a child'); sys.exit(len(sys.stdin.read()))"
    return f"exit {subprocess.run([sys.executable, '-c', code], check=False).returncode}"


@server.tool
async def meet(parties: int) -> str:
    waiting.append(1)
    if len(waiting) == parties:
        met.set()
    await met.wait()
    return "met"


async def opened(path: str) -> None:
    """Wait until this named pipe is opened for writing."""

    def meet_writer() -> None:
        with open(path, "rb"):
            pass

    await asyncio.get_running_loop().run_in_executor(None, meet_writer)


@server.tool
async def linger(path: str, ctx: Context) -> str:
    await ctx.log("info", "begun")
    await opened(path)
    return "finished"


@server.tool
async def hold(ctx: Context) -> str:
    await ctx.log("info", "begun")
    await asyncio.Event().wait()
    return "never"


@server.tool
def stick(ctx: Context) -> str:
    ctx.wait(ctx.log("info", "begun"))
    threading.Event().wait()
    return "never"


@server.tool
async def report_to_nobody(path: str, proof: str, ctx: Context) -> str:
    """Log a lot after the client has closed its side, and write a file at the end."""
    await ctx.log("info", "begun")
    await opened(path)
    for number in range(100):
        await ctx.log("info", "x" * 10_000)
        await ctx.progress(number)
    Path(proof).touch()
    return "reported"


if __name__ == "__main__":
    server.run()
    if sys.argv[1:] == ["speaks-last"]:
        print("printed afterwards")
