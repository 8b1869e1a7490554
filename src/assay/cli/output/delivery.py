"""Where a report goes: to a file, to standard output, or beside the run if it is an HTML page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from assay.cli.exit_code import CommandFailed, ExitCode

from .stream import emit, emit_bytes, say

PAGES: Final = {"html": "report.html"}
"""Formats that are written to a file instead of a terminal."""


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
    _write(output, text.encode())


def deliver_bytes(data: bytes, output: Path | None) -> None:
    """
    Raises:
        CommandFailed: the file cannot be written, or standard output is a terminal.
    """
    emit_bytes(data) if output is None else _write(output, data)


def _write(output: Path, data: bytes) -> None:
    try:
        output.write_bytes(data)
    except OSError as error:
        problem = f"cannot write {output}: {error.strerror}"
        raise CommandFailed(ExitCode.USAGE, problem, "name another file, or redirect the output") from error
    say(f"written: {output}")
