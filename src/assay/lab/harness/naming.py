"""Ids of scenarios, checks and saboteurs: the area and the function's name.

`judge_unknown_name` in `tools/` is `tools.unknown-name`. Parts of the official suite have the names it uses.
"""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

OURS: Final = "assay.lab."


def area_of(name: str) -> str:
    """The area that an id begins with."""
    return name.partition(".")[0]


def area_of_module(module: str) -> str:
    """The area of a topic module: the first name below its suite, or `AREA` in that package."""
    suite = _suite_of(module)
    area = module.removeprefix(f"{suite}.").partition(".")[0]
    name: str = getattr(sys.modules.get(f"{suite}.{area}"), "AREA", area)
    return name


def _suite_of(module: str) -> str:
    """The package of the suite that a topic module belongs to: the nearest one with requirements."""
    if module.startswith(OURS):
        return OURS + module.removeprefix(OURS).partition(".")[0]
    package = module
    while package := package.rpartition(".")[0]:
        homes = getattr(sys.modules.get(package), "__path__", ())
        if any(Path(home, "requirements").is_dir() for home in homes):
            return package
    return module.partition(".")[0]


def id_of(function: Any, verb: str = "") -> str:
    """The id of the part that a function of a topic module is turned into."""
    name: str = function.__name__.removeprefix(verb)
    return f"{area_of_module(function.__module__)}.{name.replace('_', '-')}"


def dashed(name: str) -> str:
    """The id with dashes only, as in file names and in the official suite."""
    return name.replace(".", "-").replace("/", "-")


def matches(pattern: str, *names: str | None) -> bool:
    """Whether a glob matches a name, with dots or dashes."""
    spellings = {spelling for name in names if name for spelling in (name, dashed(name))}
    return any(fnmatchcase(spelling, pattern) for spelling in spellings)
