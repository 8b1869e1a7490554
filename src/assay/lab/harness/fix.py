"""What to change, for each finding: `<suite>/fixes.toml`, by requirement or by check.

[requirements]
TL-11 = "Rename one of the tools, or remove the duplicate."
[checks]
"tools.names" = "…"                 # for all requirements of the check that have no text of their own
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

FILE: Final = "fixes.toml"


class Fixes(Struct, frozen=True, forbid_unknown_fields=True):
    requirements: dict[str, str] = {}
    checks: dict[str, str] = {}


class BadFixes(ValueError):
    """The file of a suite is not of this form."""


def read_fixes(home: Path) -> Fixes:
    """The texts of the suite in a directory; none if it has no such file."""
    path = home / FILE
    if not path.is_file():
        return Fixes()
    try:
        return msgspec.convert(tomllib.loads(path.read_text("utf-8")), Fixes)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BadFixes(f"{FILE}: {error}") from error
