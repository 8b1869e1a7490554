"""The libraries of the lab, which come with an extra."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from assay.cli.exit_code import CommandFailed, ExitCode

NEEDED: Final = ("jinja2", "mcp_types", "yaml", "rich")


def check_extra(*more: str) -> None:
    """Whether they are all there; `more` are those that not every command needs.

    Raises:
        CommandFailed: one of them is not installed.
    """
    for name in (*NEEDED, *more):
        if find_spec(name) is None:
            problem = f"the lab needs {name.replace('_', '-')}, which is not installed"
            raise CommandFailed(ExitCode.USAGE, problem, 'pip install "assay[lab]"')
