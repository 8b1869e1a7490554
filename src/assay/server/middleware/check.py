"""Mistakes in middleware that show when it is added to a server."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import Any, Final

from assay.model.error import RegistrationError
from assay.protocol.middleware import Middleware

HOOKS: Final = ("join", "publish", "changed")
HOOKS_ELSEWHERE: Final = {
    "on_call_tool": '@server.middleware("tools/call")',
    "on_list_tools": '@server.middleware("tools/list")',
    "on_read_resource": '@server.middleware("resources/read")',
    "on_get_prompt": '@server.middleware("prompts/get")',
    "on_request": "@server.middleware",
    "on_message": "@server.middleware",
}
"""Methods that other frameworks call, and what to write here."""
SIGNATURE: Final = "async def {name}(call, next): ..."


def name_of(middleware: Any) -> str:
    return getattr(middleware, "__name__", None) or type(middleware).__name__


def wraps_itself(middleware: Any) -> bool:
    """Whether it implements `wrap`, instead of being called with each request."""
    return isinstance(middleware, Middleware) and type(middleware).wrap is not Middleware.wrap


def check_middleware(middleware: Any) -> None:
    """
    Raises:
        RegistrationError: it cannot be middleware.
    """
    name = name_of(middleware)
    if inspect.isclass(middleware):
        raise RegistrationError(f"middleware {name} is a class: pass an instance, such as {name}(...)")
    _check_names(middleware, name)
    if wraps_itself(middleware):
        return
    if not callable(middleware):
        _check_object(middleware, name)
        return
    if not _is_async(middleware):
        fix = SIGNATURE.format(name=name if name.isidentifier() else "middleware")
        raise RegistrationError(f"middleware {name} is not a coroutine function: write `{fix}`")
    _check_parameters(middleware, name)


def _check_names(middleware: Any, name: str) -> None:
    for hook, decorator in HOOKS_ELSEWHERE.items():
        if hasattr(middleware, hook):
            raise RegistrationError(f"middleware {name}: {hook} is never called: write `{decorator}`")


def _check_object(middleware: Any, name: str) -> None:
    """An object without `__call__` may still have a purpose: what it publishes, or which server it joins."""
    hooks = (getattr(type(middleware), hook, None) is not getattr(Middleware, hook) for hook in HOOKS)
    if not (isinstance(middleware, Middleware) and any(hooks)):
        fix = "pass a coroutine function with (call, next), or an instance of assay.Middleware with __call__"
        raise RegistrationError(f"middleware {name} cannot be called: {fix}")


def _is_async(middleware: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(middleware) or inspect.iscoroutinefunction(
        getattr(middleware, "__call__", None)  # noqa: B004 - an object whose __call__ is async is async too
    )


def _check_parameters(middleware: Callable[..., Any], name: str) -> None:
    try:
        signature = inspect.signature(middleware)
    except (TypeError, ValueError):
        return  # nothing to check: a function written in C
    try:
        signature.bind(None, None)
    except TypeError:
        fix = "it is called with the request and with next: write `(call, next)`"
        raise RegistrationError(f"middleware {name}{signature} does not take two parameters: {fix}") from None


def check_methods(
    methods: Collection[Any], known: Collection[str], middleware: str = "middleware"
) -> frozenset[str]:
    """
    Raises:
        RegistrationError: one is not a method of the protocol or of this server. Its requests would pass the
            middleware by.
    """
    if isinstance(methods, str):
        raise RegistrationError(f'{middleware}: methods must be a list, such as ["{methods}"]')
    for method in methods:
        if method not in known:
            raise RegistrationError(f"{middleware}: {_fix_of_method(method, known)}")
    return frozenset(methods)


def _fix_of_method(method: Any, known: Collection[str]) -> str:
    if not isinstance(method, str):
        return f"{method!r:.60} is not the name of a method: decorate one function, or name methods"
    if method.startswith("notifications/"):
        return (
            f"{method} is a notification, which middleware does not see: name a request, such as tools/call"
        )
    from difflib import get_close_matches

    similar = get_close_matches(method, known, 1)
    hint = f"did you mean {similar[0]!r}?" if similar else "register a custom method before its middleware"
    return f"no method {method!r}: {hint}"
