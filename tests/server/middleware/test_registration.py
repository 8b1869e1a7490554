"""Mistakes in middleware, refused where it is added, with the fix."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from assay import Middleware, RegistrationError, Server
from assay.middleware import RateLimit
from tests.server.scripted import ask


async def passing(call: Any, next: Any) -> Any:
    return await next(call)


async def short(call: Any) -> Any: ...


async def long(call: Any, next: Any, more: Any) -> Any: ...


async def by_name(*, call: Any, next: Any) -> Any: ...


def plain(call: Any, next: Any) -> Any:
    return next(call)


class Hooked(Middleware):
    async def on_call_tool(self, context: Any, call_next: Any) -> Any: ...


class Publishing(Middleware):
    def publish(self, app: Any) -> Any:
        return app


MISTAKES: dict[str, tuple[Callable[[Server], object], str, str]] = {
    "not async": (
        lambda server: server.middleware(plain),
        "middleware plain is not a coroutine function",
        "write `async def plain(call, next): ...`",
    ),
    "lambda": (
        lambda server: server.middleware(lambda call, next: next(call)),
        "middleware <lambda> is not a coroutine function",
        "write `async def middleware(call, next): ...`",
    ),
    "too few parameters": (
        lambda server: server.middleware(short),  # type: ignore[type-var]
        "middleware short(call: 'Any') -> 'Any' does not take two parameters",
        "write `(call, next)`",
    ),
    "too many parameters": (
        lambda server: server.use(long),  # type: ignore[arg-type]
        "does not take two parameters",
        "write `(call, next)`",
    ),
    "keyword-only parameters": (
        lambda server: server.use(by_name),  # type: ignore[arg-type]
        "does not take two parameters",
        "write `(call, next)`",
    ),
    "class": (
        lambda server: server.use(RateLimit),  # type: ignore[arg-type]
        "middleware RateLimit is a class",
        "pass an instance, such as RateLimit(...)",
    ),
    "no function": (
        lambda server: server.use(5),  # type: ignore[arg-type]
        "middleware int cannot be called",
        "pass a coroutine function with (call, next), or an instance of assay.Middleware",
    ),
    "object without __call__": (
        lambda server: server.use(Middleware()),
        "middleware Middleware cannot be called",
        "pass a coroutine function with (call, next), or an instance of assay.Middleware",
    ),
    "hooks of another framework": (
        lambda server: server.use(Hooked()),
        "middleware Hooked: on_call_tool is never called",
        'write `@server.middleware("tools/call")`',
    ),
    "misspelt method": (
        lambda server: server.middleware("tool/call")(passing),
        "middleware: no method 'tool/call'",
        "did you mean 'tools/call'?",
    ),
    "method that is registered later": (
        lambda server: server.use(passing, methods=["zebra"]),
        "middleware passing: no method 'zebra'",
        "register a custom method before its middleware",
    ),
    "notification": (
        lambda server: server.middleware("notifications/cancelled")(passing),
        "notifications/cancelled is a notification, which middleware does not see",
        "name a request, such as tools/call",
    ),
    "text instead of a list": (
        lambda server: server.use(passing, methods="tools/call"),
        "methods must be a list",
        '["tools/call"]',
    ),
    "two functions": (
        lambda server: server.middleware(passing, passing),  # type: ignore[call-overload]
        "is not the name of a method",
        "decorate one function",
    ),
}


@pytest.mark.parametrize(("act", "cause", "fix"), MISTAKES.values(), ids=MISTAKES)
def test_message_names_the_cause_and_the_fix(act: Callable[[Server], object], cause: str, fix: str) -> None:
    server = Server("test")
    with pytest.raises(RegistrationError) as mistake:
        act(server)
    message = str(mistake.value)
    assert cause in message and fix in message and len(message.splitlines()) == 1
    assert server.middlewares == ()


class Bound:
    async def method(self, call: Any, next: Any) -> Any:
        return await next(call)

    async def __call__(self, call: Any, next: Any, more: int = 0) -> Any:
        return await next(call)


async def with_option(option: int, call: Any, next: Any) -> Any:
    return await next(call)


@pytest.mark.parametrize(
    "middleware",
    [passing, Bound(), Bound().method, partial(with_option, 1), Publishing()],
    ids=["function", "object", "method", "partial", "without __call__"],
)
async def test_what_can_be_called_like_the_function_is_accepted(middleware: Any) -> None:
    server = Server("test")
    server.use(middleware)
    assert (await ask(server, "ping"))["result"] == {}


def test_decorators_return_the_function() -> None:
    server = Server("test")
    assert server.middleware(passing) is passing
    assert server.middleware("ping")(passing) is passing
    assert server.middleware()(passing) is passing
    assert len(server.middlewares) == 3


async def test_custom_method_can_be_named() -> None:
    server, notes = Server("test"), []

    @server.method("own/it")
    async def own() -> dict[str, int]:
        return {}

    @server.middleware("own/it")
    async def look(call: Any, next: Any) -> Any:
        notes.append(call.method)
        return await next(call)

    await ask(server, "own/it")
    await ask(server, "ping")
    assert notes == ["own/it"]
