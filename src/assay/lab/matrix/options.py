"""Options of a matrix run, named as on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec import Struct

DIRECTORY: Final = Path("results/matrix")


class MatrixOptions(Struct, frozen=True, kw_only=True):
    client: tuple[str, ...] = ()
    """Globs of names. Default: all; the results of the others stay as they are stored."""
    server: tuple[str, ...] = ()
    transport: tuple[str, ...] = ()
    spec_version: tuple[str, ...] = ()
    jobs: int | None = None
    """Pairs that run at once. Default: the number of cores."""
    timeout: float | None = None
    """Seconds for the client of one pair, in place of those of the file."""
    force: bool = False
    """Run every selected pair, even if nothing changed since its last run."""
    output: Path = DIRECTORY
    """Where results are stored, and looked up."""
