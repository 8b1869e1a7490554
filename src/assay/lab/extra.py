"""Libraries that come with the extra `lab`. Checked first, so that a missing one is named with its fix."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Final

from assay.model.error import MissingExtra

LAB: Final = ("jinja2", "mcp_types", "yaml", "rich", "rfc8785")
TOKENS: Final = ("jwt", "cryptography")
"""For the authorization server in scenarios of clients, and for protected servers of saboteurs."""


def require_lab(*more: str) -> None:
    """Check that the libraries of the lab are installed, and `more` that only some commands need.

    Raises:
        MissingExtra: one of them is not installed.
    """
    require((*LAB, *more), "lab", "the lab")


def require_tokens() -> None:
    """Check for the libraries that issue tokens, too.

    Raises:
        MissingExtra: one of them is not installed.
    """
    require_lab(*TOKENS)


def require(names: Iterable[str], extra: str, part: str) -> None:
    """
    Raises:
        MissingExtra: one of the libraries is not installed.
    """
    for name in names:
        if find_spec(name) is None:
            library = name.replace("_", "-")
            raise MissingExtra(
                f'{part} needs {library}, which is not installed: pip install "assay-mcp[{extra}]"'
            )
