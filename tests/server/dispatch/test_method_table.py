"""Middleware that wraps the methods of a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from assay import Middleware, RpcError, Server
from tests.server.scripted import ask

Serve = Callable[[Any], Awaitable[Any]]


class Noting(Middleware):
    """Records requests and results."""

    def __init__(self, name: str, notes: list[str]) -> None:
        self.name = name
        self.notes = notes
        self.joined: list[Server] = []

    def join(self, server: Server) -> None:
        self.joined.append(server)

    def wrap(self, method: str, serve: Serve) -> Serve:
        async def noted(call: Any) -> Any:
            self.notes.append(f"{self.name} before {method}")
            try:
                return await serve(call)
            except RpcError as error:
                self.notes.append(f"{self.name} sees {error.code}")
                raise
            finally:
                self.notes.append(f"{self.name} after {method}")

        return noted

    def publish(self, app: Any) -> Any:
        self.notes.append(f"{self.name} publishes")
        return app


@pytest.fixture
def notes() -> list[str]:
    return []


def wrapped(notes: list[str], *names: str) -> Server:
    server = Server("test")
    for name in names:
        server.use(Noting(name, notes))
    return server


async def test_first_middleware_is_the_outermost(notes: list[str]) -> None:
    server = wrapped(notes, "one", "two")
    await ask(server, "ping")
    assert notes == ["one before ping", "two before ping", "two after ping", "one after ping"]


async def test_middleware_added_later_wraps_methods_used_before(notes: list[str]) -> None:
    server = Server("test")
    await ask(server, "ping")
    server.use(Noting("late", notes))
    await ask(server, "ping")
    assert notes == ["late before ping", "late after ping"]


async def test_middleware_sees_unknown_methods(notes: list[str]) -> None:
    answer = await ask(wrapped(notes, "one"), "no/such")
    assert answer["error"]["code"] == -32601
    assert notes == ["one before no/such", "one sees -32601", "one after no/such"]


async def test_middleware_wraps_custom_methods(notes: list[str]) -> None:
    server = wrapped(notes, "one")

    @server.method("own/it")
    async def it() -> dict[str, Any]:
        return {"done": True}

    answer = await ask(server, "own/it")
    assert answer["result"] == {"done": True}
    assert notes == ["one before own/it", "one after own/it"]


def test_middleware_joins_its_server_once(notes: list[str]) -> None:
    server, middleware = Server("test"), Noting("one", notes)
    server.use(middleware)
    assert middleware.joined == [server]


def test_innermost_middleware_publishes_first(notes: list[str]) -> None:
    wrapped(notes, "one", "two").asgi()
    assert notes == ["two publishes", "one publishes"]
