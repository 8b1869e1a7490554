"""What provides the values of a handler's dependencies, compiled from the functions' signatures."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Final

from assay.model.error import RegistrationError
from assay.server.calls.call import CallContext

from .dependency import context_in, dependency_in

Functions = Mapping[Callable[..., Any], Callable[..., Any]]
"""Functions, and what to call instead of them."""
Path = tuple[Callable[..., Any], ...]
Needs = tuple[tuple[str, "Provider"], ...]
"""Parameters that get the values of other dependencies."""

UNFIT_GENERATORS: Final = {
    "generator didn't yield": "did not yield: a dependency yields its value once",
    "generator didn't stop": "yielded twice: a dependency yields its value once",
    "generator didn't stop after throw()": "yielded again after an exception: let it pass, or raise another",
    "generator didn't stop after athrow()": "yielded again after an exception: let it pass, or raise another",
}
"""What `contextlib` says about a generator, and how an author can correct it."""


@dataclass(frozen=True, slots=True, eq=False)
class Provider:
    """One dependency function, and how it is called."""

    function: Callable[..., Any]
    name: str
    is_async: bool
    yields: bool
    """Whether it is a generator function: the rest of it is clean-up."""
    contexts: tuple[tuple[str, type[CallContext]], ...]
    """Parameters that get the context of the call."""
    needs: Needs

    def value(self, arguments: dict[str, Any]) -> Any:
        """Call a `def` function."""
        value = self.function(**arguments)
        if inspect.iscoroutine(value):
            value.close()
            raise RuntimeError(f"dependency {self.name} returned a coroutine: declare it with `async def`")
        return value

    def manager(self, arguments: dict[str, Any]) -> Any:
        """Call a generator function: the context manager to enter and exit."""
        manager = self.function(**arguments)
        if hasattr(manager, "__aenter__" if self.is_async else "__enter__"):
            return manager  # the function is decorated with `contextmanager` already
        make = asynccontextmanager if self.is_async else contextmanager
        return make(lambda: manager)()


@contextmanager
def naming(provider: Provider) -> Iterator[None]:
    """Name the dependency in what `contextlib` says about its generator."""
    try:
        yield
    except RuntimeError as error:
        problem = UNFIT_GENERATORS.get(str(error))
        if problem is None:
            raise
        raise RuntimeError(f"dependency {provider.name} {problem}") from None


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The dependencies of one handler."""

    needs: Needs
    is_sync: bool
    """Whether none of them has to run in the event loop."""
    context_types: frozenset[type[CallContext]]


def make_plan(handler: str, dependencies: Mapping[str, Callable[..., Any]], overrides: Functions) -> Plan:
    """
    Args:
        handler: The name of the handler, for messages.
        dependencies: Its parameters with the functions that provide them.
        overrides: Functions to call instead of others.

    Raises:
        RegistrationError: a dependency cannot be provided.
    """
    reader = _Reader(handler, overrides)
    needs = tuple((name, reader.read(function)) for name, function in dependencies.items())
    providers = reader.providers.values()
    kinds = frozenset(kind for provider in providers for _, kind in provider.contexts)
    return Plan(needs, not any(provider.is_async for provider in providers), kinds)


class _Reader:
    """Reads each function once, so that all parameters that need it share one value."""

    def __init__(self, handler: str, overrides: Functions) -> None:
        self.providers: dict[Callable[..., Any], Provider] = {}
        self._handler = handler
        self._overrides = overrides

    def read(self, function: Callable[..., Any], path: Path = (), overridden: Path = ()) -> Provider:
        """The provider of a function.

        Args:
            function: The function that a parameter names.
            path: The functions that need it, the outermost first.
            overridden: Functions that one of these replaces, and so may depend on.
        """
        chosen = function
        if function in self._overrides and function not in overridden:
            chosen, overridden = self._overrides[function], (*overridden, function)
        if chosen in path:
            circle = " needs ".join(map(name_of, (*path[path.index(chosen) :], chosen)))
            raise RegistrationError(f"{self._handler}: its dependencies go in a circle: {circle}")
        if chosen not in self.providers:
            self.providers[chosen] = self._read(chosen, (*path, chosen), overridden)
        return self.providers[chosen]

    def _read(self, function: Callable[..., Any], path: Path, overridden: Path) -> Provider:
        name = name_of(function)
        where = f"{self._handler}: dependency {name}"
        hints = _hints(function, where)
        contexts, needs = [], []
        for parameter in _parameters(function, where):
            annotation = hints.get(parameter.name, parameter.annotation)
            context = context_in(annotation)
            if context is not None:
                contexts.append((parameter.name, context))
            elif (needed := dependency_in(parameter, annotation, where)) is not None:
                needs.append((parameter.name, self.read(needed, path, overridden)))
            elif parameter.default is inspect.Parameter.empty:
                raise RegistrationError(
                    f"{where}: parameter {parameter.name} cannot be filled in: give it a default or Depends, "
                    "or annotate it with Context"
                )
        is_async, yields = _kind(function)
        return Provider(function, name, is_async, yields, tuple(contexts), tuple(needs))


def _parameters(function: Callable[..., Any], where: str) -> list[inspect.Parameter]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return []  # a class or function written in C: called without arguments
    unfit = [each.name for each in parameters if _is_positional_only(each)]
    if unfit:
        raise RegistrationError(f"{where}: parameter {unfit[0]} is positional-only: remove the slash")
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [each for each in parameters if each.kind not in variable]


def _is_positional_only(parameter: inspect.Parameter) -> bool:
    return (
        parameter.kind is inspect.Parameter.POSITIONAL_ONLY and parameter.default is inspect.Parameter.empty
    )


def _hints(function: Any, where: str) -> dict[str, Any]:
    function = inspect.unwrap(function)
    if isinstance(function, functools.partial):
        return _hints(function.func, where)
    if inspect.isclass(function):
        function = function.__init__
    elif not inspect.isroutine(function):
        function = type(function).__call__
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise RegistrationError(f"{where}: an annotation cannot be resolved: {error}") from None


def _kind(function: Callable[..., Any]) -> tuple[bool, bool]:
    """Whether a function is asynchronous, and whether it is a generator function."""
    if inspect.isclass(function):
        return False, False
    called = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    if any(map(inspect.iscoroutinefunction, (function, called))):
        return True, False
    # The last one is a generator function if the decorator is `contextmanager`.
    candidates = (function, called, inspect.unwrap(function))
    if any(map(inspect.isasyncgenfunction, candidates)):
        return True, True
    return False, any(map(inspect.isgeneratorfunction, candidates))


def name_of(function: Any) -> str:
    if isinstance(function, functools.partial):
        return name_of(function.func)
    name: str = getattr(function, "__qualname__", "") or type(function).__qualname__
    return name.rpartition("<locals>.")[2]
