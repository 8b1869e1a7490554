"""Run a server in a sandbox: its level, and what it gets of this machine."""

from __future__ import annotations

import argparse
import atexit
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assay.cli.output.stream import say

if TYPE_CHECKING:
    from assay.sandbox import Sandbox, SandboxOptions

AUTO: Final = "auto"
LEVELS: Final = ("L1", "L2", "L3")
UNITS: Final = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}
SIZE: Final = re.compile(r"(\d{1,15})\s*([kmg]?)(?:i?b)?", re.IGNORECASE)
LEAST_MEMORY: Final = 32 * 1024**2
"""Below, the launcher itself would not fit."""


def level(text: str) -> str:
    if text not in (AUTO, *LEVELS):
        hint = f"one of {', '.join(LEVELS)}; without a level, put --sandbox after the other words"
        raise argparse.ArgumentTypeError(f"{text!r} is not a level: {hint}")
    return text


def size(text: str) -> int:
    match = SIZE.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size: write it as 512m or 2g")
    value = int(match[1]) * UNITS[match[2].lower()]
    if value < LEAST_MEMORY:
        raise argparse.ArgumentTypeError(f"{text!r} is too little: at least 32m")
    return value


def add_sandbox(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    text = "run it without a network, with files by name; L1 to L3, default: the strongest"
    add("--sandbox", nargs="?", const=AUTO, type=level, metavar="LEVEL", help=text)
    read = "sandbox: a file or directory that it can read, too; repeatable"
    add("--sandbox-read", type=Path, action="append", default=[], metavar="PATH", help=read)
    env = "sandbox: a variable that it gets, too; repeatable"
    add("--sandbox-env", action="append", default=[], metavar="NAME", help=env)
    add("--sandbox-memory", type=size, metavar="SIZE", help="sandbox: all its memory; default: 1g")


def without_sandbox(arguments: Sequence[str]) -> list[str]:
    """The same command line without these options, for the process in the sandbox."""
    words = list(arguments)
    place = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_sandbox(parser.add_argument_group())
    _, rest = parser.parse_known_args(words[:place])
    return [*rest, *words[place:]]


def sandbox_options(options: argparse.Namespace) -> SandboxOptions | None:
    """None if no sandbox was asked for."""
    if options.sandbox is None:
        return None
    from assay.sandbox import Level, Limits, SandboxOptions

    memory = options.sandbox_memory
    return SandboxOptions(
        level=None if options.sandbox == AUTO else Level(options.sandbox),
        read=tuple(options.sandbox_read),
        env=tuple(options.sandbox_env),
        limits=Limits() if memory is None else Limits(memory=memory),
    )


def open_sandbox(options: argparse.Namespace) -> Sandbox | None:
    """A sandbox until this process ends; None if none was asked for. Its level is shown.

    Raises:
        SandboxUnavailable: the host does not allow the level.
    """
    values = sandbox_options(options)
    if values is None:
        return None
    from assay.sandbox import Sandbox

    sandbox = Sandbox(values)
    atexit.register(sandbox.close)
    say(f"sandbox: {sandbox.level} by {sandbox.rung.backend}")
    return sandbox
