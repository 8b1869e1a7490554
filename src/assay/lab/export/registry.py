"""The export formats: all modules of this package that have `render`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from assay.lab.error import InvalidOptions
from assay.lab.harness.run.run import Run
from assay.lab.harness.trace.trace import Trace

Traffic = Sequence[tuple[str, Trace]]
"""Traces by their path."""
Export = Callable[[Run, Traffic], bytes]
_OTHERS = frozenset({"registry", "moment"})


def exports() -> list[str]:
    names = (module.name for module in iter_modules([str(Path(__file__).parent)]))
    return [name for name in names if name not in _OTHERS]


def exporter(name: str) -> Export:
    """
    Raises:
        InvalidOptions: unknown format.
    """
    if name not in exports():
        raise InvalidOptions(f"unknown format: {name}", f"one of {', '.join(exports())}")
    render: Export = import_module(f".{name}", __package__).render
    return render


def is_binary(name: str) -> bool:
    return bool(getattr(import_module(f".{name}", __package__), "BINARY", False))
