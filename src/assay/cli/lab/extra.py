"""The libraries of the lab, which come with an extra."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Final

from assay.cli.exit_code import CommandFailed, ExitCode

NEEDED: Final = ("jinja2", "mcp_types", "yaml", "rich")
FOR_TOKENS: Final = ("jwt", "cryptography")
"""What the authorization server in the scenarios of clients needs, and the server behind a lock."""

FOR_EVIDENCE: Final = ("cvss", "cyclonedx", "packageurl", "packaging")


def check_extra(*more: str) -> None:
    """Whether they are all there; `more` are those that not every command needs.

    Raises:
        CommandFailed: one of them is not installed.
    """
    _check((*NEEDED, *more), "lab")


def check_tokens() -> None:
    """Whether there is what makes tokens, too.

    Raises:
        CommandFailed: it is not installed.
    """
    check_extra(*FOR_TOKENS)


def check_certify() -> None:
    """Whether there is what evidence is made with, too.

    Raises:
        CommandFailed: one of them is not installed.
    """
    _check((*NEEDED, *FOR_TOKENS, *FOR_EVIDENCE), "certify,lab", "certification")


def check_verify() -> None:
    """Whether there is what evidence is read with; the lab is not needed for that.

    Raises:
        CommandFailed: one of them is not installed.
    """
    _check(("cryptography", *FOR_EVIDENCE), "certify", "verification")


def _check(names: Iterable[str], extra: str, who: str = "the lab") -> None:
    for name in names:
        if find_spec(name) is None:
            problem = f"{who} needs {name.replace('_', '-')}, which is not installed"
            raise CommandFailed(ExitCode.USAGE, problem, f'pip install "assay-mcp[{extra}]"')
