"""The order of versions: PEP 440 for PyPI, Semantic Versioning for npm."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from packaging.version import Version

Order = Callable[[str], Any]
"""Returns a sort key for a version; raises ValueError if the text is not a version."""

_SEMVER: Final = re.compile(
    r"[v=]?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?"
)


def semver(text: str) -> tuple[Any, ...]:
    match = _SEMVER.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not a semantic version: {text!r}")
    *numbers, prerelease = match.groups()
    # semver.org, item 11: a release follows its pre-releases, in which numbers precede words.
    release = (1,) if prerelease is None else (0, *map(_identifier, prerelease.split(".")))
    return (*(int(number or 0) for number in numbers), release)


def _identifier(text: str) -> tuple[int, int, str]:
    return (0, int(text), "") if text.isdecimal() else (1, 0, text)


ORDERS: Final[dict[str, Order]] = {"PyPI": Version, "npm": semver}
"""By ecosystem."""
