"""Decorators that were written with too few parentheses, or with too much in them."""

from __future__ import annotations

import inspect
from typing import Any

from assay.model.error import RegistrationError


def check_argument(decorator: str, value: Any, needed: str, example: str) -> None:
    """
    Raises:
        RegistrationError: a decorator that needs an argument has none, so that the function itself would be
            taken for it; or it has one of another type.
    """
    if isinstance(value, str):
        return
    place = f", above {value.__name__}" if inspect.isfunction(value) else f", not {value!r:.60}"
    raise RegistrationError(f"@server.{decorator} needs {needed}: write {example}{place}")


def check_decorated(decorator: str, function: Any) -> None:
    """
    Raises:
        RegistrationError: a name was passed by position.
    """
    if isinstance(function, str):
        raise RegistrationError(f"@server.{decorator}({function!r:.60}): write @server.{decorator}(name=...)")
