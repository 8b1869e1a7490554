"""An entry of a server's list by its name, or the nearest one in the error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from assay.cli.exit_code import CommandFailed, ExitCode

NAMED: Final = 20
"""Names that an error lists."""


def by_name(items: Sequence[Any], name: str, kind: str) -> Any:
    """
    Raises:
        CommandFailed: there is none of this name.
    """
    for item in items:
        if item.name == name:
            return item
    from difflib import get_close_matches  # only mistakes need it

    names = [item.name for item in items]
    near = get_close_matches(name, names[:10_000], n=1, cutoff=0.5)
    if near:
        hint = f"did you mean {near[0]}?"
    else:
        hint = f"it has: {', '.join(names[:NAMED])}" if names else f"it has no {kind}s"
    raise CommandFailed(ExitCode.USAGE, f"the server has no {kind} {name}", hint)
