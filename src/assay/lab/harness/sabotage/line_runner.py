"""Runs the line of a finding as its user would, and returns what it printed."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path
from runpy import run_module
from string import Template
from tempfile import TemporaryDirectory
from typing import Final

ASSAY: Final = "assay "
LIMIT: Final = 120.0
"""Seconds for a line. A run of one scenario waits for several answers."""
PRINTED: Final = "printed"
_context: Final = get_context("forkserver")
_context.set_forkserver_preload(["assay.cli.check", "assay.lab.server_run", "assay.lab.report.text"])


async def run_line(line: str, variables: Mapping[str, str]) -> bytes:
    """Run a line in a shell. A line of Assay runs in a process that has loaded Assay already: the same words,
    without a second of CPU time for the start of Python."""
    if line.startswith(ASSAY):
        words = [Template(word).safe_substitute(variables) for word in shlex.split(line)]
        return await _run_assay(words[1:])
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", line),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, **variables},
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(LIMIT):
            output, _ = await process.communicate()
    except TimeoutError:
        # The shell's children, too: one that still has the pipe open would keep it readable for ever.
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = await process.communicate()
    return output


async def _run_assay(words: Sequence[str]) -> bytes:
    with TemporaryDirectory(prefix="assay-line-") as folder:
        process = _context.Process(target=_assay, args=(list(words), folder))
        process.start()
        try:
            await _wait_readable(process.sentinel, LIMIT)
        finally:
            process.kill()
            process.join()
        return (Path(folder) / PRINTED).read_bytes()


async def _wait_readable(descriptor: int, limit: float) -> None:
    """Wait for the end of a process, without a thread for each."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(descriptor, ended.set)
    try:
        async with asyncio.timeout(limit):
            await ended.wait()
    except TimeoutError:
        return
    finally:
        loop.remove_reader(descriptor)


def _assay(words: list[str], folder: str) -> None:
    """The command, as `python -m assay` runs it; what it prints goes to a file, and its results, too."""
    os.chdir(folder)
    output = os.open(PRINTED, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.argv = ["assay", *words]
    run_module("assay", run_name="__main__")
