"""Mistakes in a handler that show before it is ever called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

from assay.model.error import RegistrationError

CONTEXT_NAMES: Final = ("ctx", "context")


def _yields(function: Any) -> bool:
    return inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)


def _is_wrapper(function: Any) -> bool:
    """Whether it takes anything, as the inner function of a decorator does that hides the signature."""
    if not inspect.isfunction(function):
        return False
    kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
    return kinds == [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]


UNFIT: Final[tuple[tuple[Callable[[Any], bool], str, str], ...]] = (
    (lambda function: not callable(function), "is not a function", "decorate a function"),
    (inspect.isclass, "is a class", "decorate a function, or register an instance that has __call__"),
    (_yields, "is a generator", "return a list, and report what is done so far with ctx.progress(...)"),
    (
        _is_wrapper,
        "takes *args and **kwargs, which name no arguments",
        "in a decorator, put @functools.wraps(function) above the inner function",
    ),
)
"""What cannot be a handler: a test, the reason, and what to write instead."""

REFUSED_KINDS: Final = {
    inspect.Parameter.POSITIONAL_ONLY: (
        "positional-only parameter",
        "clients send arguments by name: remove the / from the signature",
    ),
    inspect.Parameter.VAR_POSITIONAL: (
        "parameter *",
        "clients send arguments by name: write a list, such as {name}: list[int]",
    ),
    inspect.Parameter.VAR_KEYWORD: (
        "parameter **",
        "clients need to know the names: write each parameter, or describe them with input_schema=...",
    ),
}


def check_function(function: Any, name: str) -> None:
    """
    Raises:
        RegistrationError: the object cannot be a handler.
    """
    _check_bound(function, name)
    for is_unfit, reason, fix in UNFIT:
        if is_unfit(function):
            raise RegistrationError(f"{name} {reason}: {fix}")


def _check_bound(function: Any, name: str) -> None:
    """
    Raises:
        RegistrationError: the function is a method without its object, so `self` would be an argument.
    """
    if isinstance(function, staticmethod):
        raise RegistrationError(f"{name}: write @staticmethod above this decorator")
    if isinstance(function, classmethod):
        raise RegistrationError(f"{name}: register a classmethod after its class, as MyClass.{name}")
    if not inspect.isfunction(function):
        return
    owner = function.__qualname__.rpartition(".")[0].rpartition(".")[2]
    first = next(iter(inspect.signature(function).parameters), None)
    if first in ("self", "cls") and owner not in ("", "<locals>"):
        raise RegistrationError(
            f"{name}: parameter {first}: {owner}.{name} is a method without its object; "
            f"register the method of an object, such as {owner}(…).{name}"
        )


def check_kind(parameter: inspect.Parameter, name: str) -> None:
    """
    Raises:
        RegistrationError: the parameter cannot be passed by name.
    """
    if parameter.kind in REFUSED_KINDS:
        kind, fix = REFUSED_KINDS[parameter.kind]
        separator = "" if kind.endswith("*") else " "
        shown = f"{kind}{separator}{parameter.name}"
        raise RegistrationError(f"{name}: {shown} cannot be an argument: {fix.format(name=parameter.name)}")


def check_context(parameter: inspect.Parameter, name: str, *, annotated: bool, earlier: str | None) -> None:
    """
    Raises:
        RegistrationError: a context without an annotation would become an argument; or there are two.
    """
    if annotated and earlier is not None:
        raise RegistrationError(f"{name}: {earlier} and {parameter.name} are both contexts: keep one of them")
    bare = parameter.annotation is inspect.Parameter.empty
    if bare and not annotated and parameter.name in CONTEXT_NAMES:
        fix = f"write {parameter.name}: Context to get the context, or give an argument another name"
        raise RegistrationError(f"{name}: parameter {parameter.name} has no annotation: {fix}")
