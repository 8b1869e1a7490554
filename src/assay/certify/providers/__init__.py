"""The providers of measurements: one module for each, with its `PROVIDER`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from assay.certify.measurement import Provider


@cache
def providers() -> tuple[Provider, ...]:
    """All providers in this package, by the names of their modules."""
    names = sorted(module.name for module in iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{name}").PROVIDER for name in names)
