"""Parameters that the server fills in instead of the client: a `Context`, and what `Depends` names."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, overload

from assay.model.error import RegistrationError
from assay.server.calls.call import CallContext

if TYPE_CHECKING:
    from contextlib import _AsyncGeneratorContextManager, _GeneratorContextManager

T = TypeVar("T")


class Dependency:
    """The mark of a parameter whose value a function provides. Authors write `Depends`."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any] | None) -> None:
        self.function = function
        """None if the annotation of the parameter names it."""


# What the function yields, awaits or returns is the type of the parameter's default.
@overload
def Depends(function: Callable[..., _AsyncGeneratorContextManager[T]]) -> T: ...
@overload
def Depends(function: Callable[..., _GeneratorContextManager[T]]) -> T: ...
@overload
def Depends(function: Callable[..., AsyncGenerator[T, Any]]) -> T: ...
@overload
def Depends(function: Callable[..., AsyncIterator[T]]) -> T: ...
@overload
def Depends(function: Callable[..., Generator[T, Any, Any]]) -> T: ...
@overload
def Depends(function: Callable[..., Iterator[T]]) -> T: ...
@overload
def Depends(function: Callable[..., Awaitable[T]]) -> T: ...
@overload
def Depends(function: Callable[..., T]) -> T: ...
@overload
def Depends() -> Any: ...
def Depends(function: Callable[..., Any] | None = None) -> Any:
    """Mark a parameter of a handler whose value a function provides.

        async def get_database(ctx: Context) -> AsyncIterator[Database]:
            async with ctx.lifespan.pool.connection() as database:
                yield database

        @server.tool
        async def orders(customer: str, database: Annotated[Database, Depends(get_database)]) -> list[Order]:
            ...

    `database: Database = Depends(get_database)` means the same. The function is called once per call of the
    handler, however many parameters need it. It may take a `Context` and have dependencies itself. If it
    yields instead of returning, the rest of it runs when the handler has ended, also after an error or a
    cancellation. Clients do not see the parameter.

    Args:
        function: A function, coroutine function, generator function or class. `def` functions run in a
            thread, like `def` handlers. By default, the class that the parameter is annotated with.

    Raises:
        RegistrationError: it is not a function.
    """
    if function is None or callable(function):
        return Dependency(function)
    if inspect.iscoroutine(function):
        function.close()  # it was never going to be awaited
    raise RegistrationError(
        f"Depends takes a function, not {_described(function)}: pass the function itself, without calling it"
    )


def _described(value: object) -> str:
    name = getattr(value, "__qualname__", None)
    return f"what {name}() returned" if name else f"a {type(value).__qualname__}"


def dependency_in(parameter: inspect.Parameter, annotation: Any, handler: str) -> Callable[..., Any] | None:
    """The function that provides a parameter's value; None for ordinary parameters.

    Raises:
        RegistrationError: the mark is incomplete, or there are two.
    """
    declared = get_origin(annotation) is Annotated
    metadata = annotation.__metadata__ if declared else ()
    marks = [each for each in (*metadata, parameter.default) if _is_mark(each)]
    if not marks:
        return None
    where = f"{handler}: parameter {parameter.name}"
    if len(marks) > 1:
        raise RegistrationError(f"{where} has {len(marks)} Depends: keep one of them")
    if not isinstance(marks[0], Dependency):
        raise RegistrationError(f"{where}: write Depends(function) instead of Depends")
    provider = marks[0].function or (annotation.__origin__ if declared else annotation)
    if not callable(provider) or provider is Any:
        raise RegistrationError(f"{where}: Depends() needs a function, or a class as annotation")
    return provider


def _is_mark(value: object) -> bool:
    return isinstance(value, Dependency) or value is Depends


def context_in(annotation: Any) -> type[CallContext] | None:
    """The context class of an annotation such as `Context`, `Context[State]` or `Context | None`."""
    for candidate in (annotation, *get_args(annotation)):
        origin = get_origin(candidate) or candidate
        if isinstance(origin, type) and issubclass(origin, CallContext):
            return origin
    return None
