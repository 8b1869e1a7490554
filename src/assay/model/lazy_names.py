"""Packages whose public names are imported on first use: importing a part of one must not load the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: dict[str, Any], names_by_module: Mapping[str, str]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """`__all__`, `__getattr__` and `__dir__` of a package, given its `globals()`.

    `names_by_module` has the names of each module, separated by spaces. The path of a module in the package
    starts with a dot.
    """
    name_of_package: str = package["__name__"]
    module_of = {name: module for module, names in names_by_module.items() for name in names.split()}

    def load(name: str) -> Any:
        module = module_of.get(name)
        if module is None:
            raise AttributeError(f"module {name_of_package!r} has no attribute {name!r}")
        value = package[name] = getattr(import_module(module, name_of_package), name)
        return value

    def names() -> list[str]:
        return sorted({*package, *module_of})

    return list(module_of), load, names
