"""The order of versions: PEP 440 for PyPI, Semantic Versioning for npm, and `univers` for other ecosystems.

`univers` reads PyPI by PEP 440 too, but coerces versions of npm that are not semantic ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
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


_NUMBERED: Final = re.compile(r"v?[0-9]{1,18}(\.[0-9]{1,18}){0,3}([-+][0-9A-Za-z.+-]{1,100})?", re.ASCII)
_QUALIFIED: Final = re.compile(r"[0-9][0-9A-Za-z_.-]{0,127}", re.ASCII)
"""What `univers` may see: it takes almost any text for a version."""


def _ordered_by(name: str, form: re.Pattern[str] = _NUMBERED) -> Order:
    """The order of a class in `univers.versions`, which is imported when it is used."""

    def order(text: str) -> Any:
        if not form.fullmatch(text):
            raise ValueError(f"not a version: {text[:80]!r}")
        versions = import_module("univers.versions")
        try:
            return getattr(versions, name)(text)
        except versions.InvalidVersion as error:
            raise ValueError(f"not a version: {text!r}") from error

    return order


ORDERS: Final[dict[str, Order]] = {
    "PyPI": Version,
    "npm": semver,
    "crates.io": semver,
    "Go": _ordered_by("GolangVersion"),
    "Maven": _ordered_by("MavenVersion", _QUALIFIED),
    "NuGet": _ordered_by("NugetVersion"),
    "Packagist": _ordered_by("ComposerVersion"),
    "RubyGems": _ordered_by("RubygemsVersion", _QUALIFIED),
}
"""By ecosystem."""
