"""Ids are paths: `checks/tools/unknown_name.py` is `tools.unknown-name`."""

from __future__ import annotations

from fnmatch import fnmatchcase


def id_of(module: str, kind: str) -> str:
    """The id of what a module below the package `kind` declares."""
    inside = module.rpartition(f".{kind}.")[2]
    return inside.replace("_", "-")


def area_of(name: str) -> str:
    """The folder that an id begins with."""
    return name.partition(".")[0]


def dashed(name: str) -> str:
    """As names of files and of the official suite are written: one row of words."""
    return name.replace(".", "-").replace("/", "-")


def matches(pattern: str, *names: str | None) -> bool:
    """Whether a name fits a glob, in whichever of its spellings."""
    spellings = {spelling for name in names if name for spelling in (name, dashed(name))}
    return any(fnmatchcase(spelling, pattern) for spelling in spellings)
