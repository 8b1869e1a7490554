"""Which version comes first: by PEP 440 for PyPI, by Semantic Versioning for npm."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from packaging.version import Version

Order = Callable[[str], Any]
"""Makes a value that compares as the version does; raises ValueError where the text is none."""

_SEMVER: Final = re.compile(
    r"[v=]?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?"
)


def semver(text: str) -> tuple[Any, ...]:
    found = _SEMVER.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"no semantic version: {text!r}")
    *numbers, before = found.groups()
    # A version comes after all its pre-releases; in one, numbers come before words.
    release = (1,) if before is None else (0, *map(_word, before.split(".")))
    return (*(int(number or 0) for number in numbers), release)


def _word(word: str) -> tuple[int, int, str]:
    return (0, int(word), "") if word.isdecimal() else (1, 0, word)


ORDERS: Final[dict[str, Order]] = {"PyPI": Version, "npm": semver}
"""By ecosystem; what is not here cannot be matched."""
