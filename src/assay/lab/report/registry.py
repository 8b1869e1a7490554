"""The report formats: all modules of this package except this one."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from assay.lab.error import InvalidOptions
from assay.lab.harness.run.run import Run

Render = Callable[[Run], str]


def formats() -> list[str]:
    names = (module.name for module in iter_modules([str(Path(__file__).parent)]))
    return [name for name in names if name != "registry"]


def renderer(name: str) -> Render:
    """
    Raises:
        InvalidOptions: unknown format.
    """
    if name not in formats():
        raise InvalidOptions(f"unknown format: {name}", f"one of {', '.join(formats())}")
    render: Render = import_module(f".{name}", __package__).render
    return render


def render(run: Run, format: str = "text") -> str:
    """The report of a run, in one of `formats()`.

    Raises:
        InvalidOptions: unknown format.
    """
    return renderer(format)(run)
