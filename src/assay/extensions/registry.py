"""The extensions that Assay itself supports."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from .extension import Extension


def _load() -> tuple[Extension, ...]:
    """The value of each module in this package that has one: to add an extension, add its file."""
    package = __package__ or ""
    names = sorted(name for _, name, _ in iter_modules(import_module(package).__path__))
    others = ("extension", "registry")
    return tuple(import_module(f"{package}.{name}").EXTENSION for name in names if name not in others)


EXTENSIONS: Final = _load()
REQUESTS: Final[frozenset[str]] = frozenset(
    method for extension in EXTENSIONS for method in extension.requests
)
"""Methods that extensions add."""
