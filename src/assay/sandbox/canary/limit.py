"""Escapes from the limits."""

from __future__ import annotations

import errno
import mmap
import os
import resource
import signal
from contextlib import suppress
from pathlib import Path
from typing import Final

from assay.sandbox.launch.plan import Protection as P

from .escape import Area, Bait, Blocked, escape

MANY: Final = 512
HUGE: Final = 2 * 1024 * 1024 * 1024
POPULATE: Final = 23
"""MADV_POPULATE_WRITE: touch every page in one call."""
OPEN_FILES: Final = 4096


@escape("fork-bomb", f"Have {MANY} processes", Area.LIMITS, P.LIMITS)
def fork_bomb(bait: Bait) -> str:
    children: list[int] = []
    try:
        for _ in range(MANY):
            child = os.fork()
            if child == 0:
                os.closerange(3, 64)  # the pipe for the result must end with the attempt
                signal.pause()
            children.append(child)
        return f"{MANY} at once"
    except OSError as error:
        raise Blocked(f"{error.strerror} after {len(children)}") from error
    finally:
        for child in children:
            with suppress(OSError):
                os.kill(child, signal.SIGKILL)
        for child in children:
            with suppress(OSError):
                os.waitpid(child, 0)


@escape("memory", "Use 2 GiB of memory", Area.LIMITS, P.LIMITS)
def memory(bait: Bait) -> str:
    with mmap.mmap(-1, HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as block:
        try:
            block.madvise(POPULATE)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            # An older kernel touches no pages in advance.
            for place in range(0, HUGE, mmap.PAGESIZE):
                block[place] = 1
    return "wrote to all of it"


@escape("processor", "Use the processor without an end", Area.LIMITS, P.LIMITS)
def processor(bait: Bait) -> str:
    """The time of a process is limited, and the limit cannot be raised."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard != resource.RLIM_INFINITY:
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except (OSError, ValueError) as error:
            raise Blocked(f"{hard} s of processor time, and no more ({error})") from error
    return "unlimited processor time"


@escape("large-file", "Write a file of 2 GiB", Area.LIMITS, P.LIMITS)
def large_file(bait: Bait) -> str:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    path = Path(bait.scratch, f"large-{os.getpid()}")
    try:
        with path.open("wb") as file:
            file.truncate(HUGE)
    finally:
        path.unlink()
    return "written, sparsely"


@escape("open-files", f"Open {OPEN_FILES} files", Area.LIMITS, P.LIMITS)
def open_files(bait: Bait) -> str:
    descriptors: list[int] = []
    try:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < OPEN_FILES:
            raise Blocked(f"at most {hard}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        descriptors.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(OPEN_FILES))
        return "opened"
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


ESCAPES: Final = (fork_bomb, memory, processor, large_file, open_files)
