"""Where a report goes: to the file that was named, to standard output, or beside the run if it is a page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from .exit_code import CommandFailed, ExitCode
from .output import emit

PAGES: Final = {"html": "report.html"}
"""Formats that nobody reads on a terminal, and the file that each becomes instead."""


def deliver(text: str, form: str, *, output: Path | None = None, beside: Path) -> None:
    """
    Raises:
        CommandFailed: the file cannot be written.
    """
    if output is None and form in PAGES and sys.stdout.isatty():
        output = beside / PAGES[form]
    if output is None:
        emit(text)
        return
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        problem = f"cannot write {output}: {error.strerror}"
        raise CommandFailed(ExitCode.USAGE, problem, "name another file, or redirect the output") from error
    print(f"written: {output}", file=sys.stderr)
