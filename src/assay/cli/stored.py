"""Stored runs that a user names on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .exit_code import CommandFailed, ExitCode

if TYPE_CHECKING:
    from assay.lab.harness.run.run import Run

HINT = "give a directory results/run-… of `assay server`"


def stored_run(path: Path) -> Run:
    """
    Raises:
        CommandFailed: it is not there, or no stored run.
    """
    from assay.lab.harness.run.archive import read_run
    from assay.lab.harness.run.run import BadRun

    try:
        return read_run(path)
    except BadRun as error:
        raise CommandFailed(ExitCode.USAGE, str(error), HINT) from error
    except OSError as error:
        raise CommandFailed(ExitCode.USAGE, f"{error.filename}: {error.strerror}", HINT) from error
