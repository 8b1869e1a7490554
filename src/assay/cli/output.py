"""Results on standard output: readable on any terminal, quiet when the reader of a pipe has left."""

from __future__ import annotations

import os
import sys
from typing import Final

from .exit_code import CommandFailed, ExitCode

_RED, _GREEN, _YELLOW = "31", "32", "33"
# How a line begins, and its colour. The first that fits counts.
COLOURS: Final = (
    ("FAILURE ", _RED),
    ("WARNING ", _YELLOW),
    ("does not conform", _RED),
    ("conforms", _GREEN),
    ("incomplete", _YELLOW),
    ("interrupted", _YELLOW),
    ("stale ", _RED),
    ("flaky", _YELLOW),
    ("WORSE ", _RED),
    ("worse", _RED),
    ("DIFFERS ", _RED),
    ("differs from the golden run", _RED),
    ("FLAKY ", _YELLOW),
    ("BETTER ", _GREEN),
    ("no worse", _GREEN),
    ("verified: ", _GREEN),
    ("refused: ", _RED),
    ("as the golden run", _GREEN),
)


def emit(text: str) -> None:
    """Write what a command was asked for."""
    out = sys.stdout
    shown = paint(text) if out.isatty() and not os.environ.get("NO_COLOR") else text
    encoding = out.encoding or "utf-8"
    try:
        out.write(shown.encode(encoding, "backslashreplace").decode(encoding))
        out.flush()
    except BrokenPipeError:
        # Whoever read this has left: no failure. Python flushes once more at exit: to nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        problem = f"cannot write to standard output: {error.strerror}"
        raise CommandFailed(ExitCode.INCOMPLETE, problem, "make room, or write elsewhere") from error


def paint(text: str) -> str:
    return "\n".join(map(_painted, text.split("\n")))


def _painted(line: str) -> str:
    colour = next((colour for begin, colour in COLOURS if line.startswith(begin)), None)
    return line if colour is None else f"\033[{colour}m{line}\033[0m"
