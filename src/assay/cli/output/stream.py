"""Standard output: colour on a terminal, any encoding, no error when the reader of a pipe closes it."""

from __future__ import annotations

import os
import sys
from typing import Final

from assay.cli.exit_code import CommandFailed, ExitCode

_RED, _GREEN, _YELLOW = "31", "32", "33"
# The beginning of a line, and its colour. The first match counts.
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
    ("same as the golden run", _GREEN),
)


def emit(text: str) -> None:
    """Write the result of a command."""
    out = sys.stdout
    painted = paint(text) if out.isatty() and not os.environ.get("NO_COLOR") else text
    encoding = out.encoding or "utf-8"
    try:
        out.write(painted.encode(encoding, "backslashreplace").decode(encoding))
        out.flush()
    except BrokenPipeError:
        # The reader closed the pipe, as `head` does. Python flushes once more at exit: discard that.
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        problem = f"cannot write to standard output: {error.strerror}"
        raise CommandFailed(ExitCode.INCOMPLETE, problem, "free some space, or write elsewhere") from error


def paint(text: str) -> str:
    return "\n".join(map(_painted, text.split("\n")))


def _painted(line: str) -> str:
    colour = next((colour for begin, colour in COLOURS if line.startswith(begin)), None)
    return line if colour is None else f"\033[{colour}m{line}\033[0m"
