"""The report formats: all modules of this package except this one.

A format that sets `ESCAPES` gets the run as it is stored, and escapes its texts by its own rules."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import msgspec

from assay.lab.error import InvalidOptions
from assay.lab.harness.run.run import Run
from assay.model.visible import visible_lines, visible_values

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
    module = import_module(f".{name}", __package__)
    render: Render = module.render
    if getattr(module, "ESCAPES", False):
        return lambda run: visible_lines(render(run))
    return lambda run: visible_lines(render(_visible(run)))


def _visible(run: Run) -> Run:
    """The run with texts in which nothing acts: subjects choose most of them."""
    return msgspec.convert(visible_values(msgspec.to_builtins(run)), Run)


def render(run: Run, format: str = "text") -> str:
    """The report of a run, in one of `formats()`.

    Raises:
        InvalidOptions: unknown format.
    """
    return renderer(format)(run)
