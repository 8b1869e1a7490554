"""Standard output: colour on a terminal, any encoding, no error when the reader of a pipe closes it.

Nothing that a subject chose acts on a terminal or in a CI system: see `assay.model.visible`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import IO, Final

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.model.visible import visible_lines, visible_reason

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
    ("same as recorded", _GREEN),
    ("differs from the recording", _RED),
    ("ok       ", _GREEN),
    ("failed   ", _RED),
    ("warning  ", _YELLOW),
)


def emit(text: str) -> None:
    """Write the result of a command."""
    out, text = sys.stdout, visible_lines(text)
    painted = paint(text) if out.isatty() and not os.environ.get("NO_COLOR") else text
    encoding = out.encoding or "utf-8"
    try:
        out.write(painted.encode(encoding, "backslashreplace").decode(encoding))
        out.flush()
    except BrokenPipeError:
        _discard(out)
    except OSError as error:
        _discard(out)
        problem = f"cannot write to standard output: {error.strerror}"
        raise CommandFailed(ExitCode.INCOMPLETE, problem, "free some space, or write elsewhere") from error


def emit_lines(lines: Iterable[str]) -> None:
    """Write the result of a command that consists of lines: a line break inside of one is shown."""
    emit("".join(f"{visible_reason(line)}\n" for line in lines))


def say(line: str, stream: IO[str] | None = None) -> None:
    """Write a line about what the command does, to standard error unless there is another stream."""
    say_lines([line], stream)


def say_lines(lines: Iterable[str], stream: IO[str] | None = None) -> None:
    stream = stream or sys.stderr
    try:
        print("\n".join(map(visible_reason, lines)), file=stream, flush=True)
    except BrokenPipeError:
        _discard(stream)


def say_over(line: str) -> None:
    """Write a line about progress: on a terminal, in the place of the one before."""
    if not sys.stderr.isatty():
        return say(line)
    sys.stderr.write(f"\r\033[K{visible_reason(line)}")
    sys.stderr.flush()


def prompt(text: str) -> None:
    """Write to standard error what the user types after."""
    sys.stderr.write(visible_reason(text))
    sys.stderr.flush()


def emit_bytes(data: bytes) -> None:
    """Write data as it is, for a file or a program.

    Raises:
        CommandFailed: standard output is a terminal, where the data would act.
    """
    if sys.stdout.isatty():
        raise CommandFailed(ExitCode.USAGE, "the data is not for a terminal", "name a file: --output FILE")
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)


def _discard(stream: IO[str]) -> None:
    """The reader closed the pipe, as `head` does. Python flushes once more at exit: that must not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def open_closed_streams() -> None:
    """A command may be started without standard streams, as by a service manager: discard its output then."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def paint(text: str) -> str:
    return "\n".join(map(_painted, text.split("\n")))


def _painted(line: str) -> str:
    colour = next((colour for begin, colour in COLOURS if line.startswith(begin)), None)
    return line if colour is None else f"\033[{colour}m{line}\033[0m"
