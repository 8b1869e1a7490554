"""Suites that installed packages bring, by entry points in the group `assay.suites`.

    [project.entry-points."assay.suites"]
    greetings = "greeting_suite"

The name is that of `--suite`, the value the package with the topic modules. Its constants `ABOUT`, `SERVER`
and `PLAIN` describe the suite; all are optional. A package is imported only if its suite is used.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Final

import msgspec

from assay.lab.harness.catalogue import BadSuite, Suite, load_suite

GROUP: Final = "assay.suites"
SERVER: Final = "reference"
"""The bundled server that saboteurs alter, unless the package names another one."""
RESERVED: Final = frozenset({"protocol", "everything", "marketplace", "client", "fuzz", "all"})
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,63}")


def outside_suites() -> dict[str, EntryPoint]:
    """The entry points by name, without importing anything.

    Raises:
        BadSuite: a name is not usable, or two packages bring a suite of the same name.
    """
    suites: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=GROUP)):
        if entry.name in RESERVED or not _NAME.fullmatch(entry.name):
            raise BadSuite(
                f"{source_of(entry)}: a suite cannot be named {entry.name!r}: rename its entry point"
            )
        if entry.name in suites and suites[entry.name].value != entry.value:
            other = source_of(suites[entry.name])
            raise BadSuite(f"{source_of(entry)} and {other} both bring a suite {entry.name}: uninstall one")
        suites[entry.name] = entry
    return suites


def source_of(entry: EntryPoint) -> str:
    """The distribution and the package of a suite."""
    return entry.value if entry.dist is None else f"{entry.value} of {entry.dist.name} {entry.dist.version}"


@cache
def load_outside(entry: EntryPoint) -> Suite:
    """
    Raises:
        BadSuite: the package cannot be imported, or its parts do not fit together.
    """
    try:
        package = import_module(entry.value)
        server = str(getattr(package, "SERVER", SERVER))
        suite = load_suite(entry.name, entry.value, server=server, plain="")
        plain = str(getattr(package, "PLAIN", next(iter(suite.scenarios), "")))
        return msgspec.structs.replace(suite, plain=plain)
    except Exception as error:  # whatever the code of a stranger raises
        raise BadSuite(f"the suite {entry.name} ({source_of(entry)}): {_reason(error)}") from error


def about(entry: EntryPoint) -> str:
    """
    Raises:
        BadSuite: the package cannot be imported.
    """
    return str(getattr(import_module(load_outside(entry).package), "ABOUT", "")) or source_of(entry)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
