"""Data that handlers store for a client: in its session, or else by principal, and never for another."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay import Context, Limits, Scope, Server
from assay.server.calls.client_state import ClientState
from tests.server.scripted import ScriptedClient

LIMIT = 100


def make_server(**limits: int) -> Server:
    server = Server("test", limits=Limits(**limits))

    @server.tool
    async def store(ctx: Context, value: Any, key: str = "x") -> str:
        ctx.session[key] = value
        return "stored"

    @server.tool
    async def load(ctx: Context) -> dict[str, Any]:
        return dict(ctx.session)

    @server.tool
    async def forget(ctx: Context, key: str = "x") -> str:
        del ctx.session[key]
        return "forgotten"

    return server


async def alone(server: Server, principal: Any, tool: str, **arguments: Any) -> Any:
    """One call without a session."""
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = await server.handle(message, scope=Scope(principal=principal))
    assert answer is not None
    return json.loads(answer)["result"].get("structuredContent")


async def test_data_belongs_to_its_session() -> None:
    server = make_server()
    async with (
        ScriptedClient(server, principal="ada") as first,
        ScriptedClient(server, principal="ada") as second,
    ):
        await first.call("store", value={"a": [1, None]})
        assert (await first.call("load"))["structuredContent"] == {"x": {"a": [1, None]}}
        assert (await second.call("load"))["structuredContent"] == {}
        assert await alone(server, "ada", "load") == {}
        await first.call("forget")
        assert (await first.call("load"))["structuredContent"] == {}


async def test_without_a_session_data_belongs_to_the_principal() -> None:
    server = make_server()
    await alone(server, "ada", "store", value=1)
    await alone(server, None, "store", value=2)
    assert await alone(server, "ada", "load") == {"x": 1}
    assert await alone(server, "bob", "load") == {}
    assert await alone(server, None, "load") == {"x": 2}
    async with ScriptedClient(server, principal="ada") as client:
        assert (await client.call("load"))["structuredContent"] == {}


async def test_restored_session_has_its_data() -> None:
    server = make_server()
    async with ScriptedClient(server) as client:
        client.session.changed = False
        await client.call("store", value="model")
        assert client.session.changed
        record = client.session.record()
        restored = server.restore_session(record, lambda data: None)
        await client.call("store", value="another")
    assert restored.client_state == {"x": b'"model"'}
    assert record.client_state == {"x": b'"model"'}
    server.close_session(restored)


async def test_least_recently_seen_principal_is_dropped_first() -> None:
    server = make_server(principals=2)
    for principal in ("ada", "bob"):
        await alone(server, principal, "store", value=principal)
    await alone(server, "ada", "load")
    await alone(server, "eve", "store", value="eve")
    assert await alone(server, "bob", "load") == {}
    assert await alone(server, "eve", "load") == {"x": "eve"}


def test_reading_returns_a_copy_and_writing_is_reported() -> None:
    changes: list[int] = []
    state = ClientState({}, LIMIT, lambda change: changes.append(change) or True)
    state["x"] = [1]
    state["x"].append(2)
    assert (state["x"], list(state), len(state), state.get("y", 5)) == ([1], ["x"], 1, 5)
    del state["x"]
    assert (changes, dict(state)) == ([4, -4], {})
    with pytest.raises(KeyError):
        state["x"]


def test_values_must_be_plain_json() -> None:
    state = ClientState({}, LIMIT, lambda change: True)
    with pytest.raises(TypeError):
        state["x"] = object()
    assert dict(state) == {}


def test_too_large_value_is_refused_without_effect() -> None:
    state = ClientState({}, LIMIT, lambda change: True)
    state["x"] = "a" * (LIMIT - 3)
    state["x"] = "b" * (LIMIT - 3)
    with pytest.raises(ValueError, match="too large"):
        state["y"] = ""
    with pytest.raises(ValueError, match="too large"):
        state["x"] = "c" * (LIMIT - 2)
    assert state["x"][0] == "b"


def test_value_that_does_not_fit_beside_those_of_others_is_refused_without_effect() -> None:
    state = ClientState({}, LIMIT, lambda change: change < 5)
    state["x"] = 100
    state["x"] = 200
    with pytest.raises(ValueError, match="all sessions together"):
        state["x"] = 123456789
    assert state["x"] == 200


async def test_sessions_together_keep_no_more_than_the_limit() -> None:
    server = make_server(session_bytes=600)
    async with ScriptedClient(server) as first, ScriptedClient(server) as second:
        before = server.session_budget.used
        assert "isError" not in await first.call("store", value="a" * 300)
        assert server.session_budget.used == before + 303
        assert (await second.call("store", value="a" * 300))["isError"] is True
        await first.call("forget")
        assert "isError" not in await second.call("store", value="a" * 300)


async def test_handler_that_stores_too_much_fails(caplog: pytest.LogCaptureFixture) -> None:
    server = make_server(kept_bytes=10)
    async with ScriptedClient(server) as client:
        assert (await client.call("store", value="a" * 20))["isError"] is True
        assert (await client.call("load"))["structuredContent"] == {}
    assert "session data too large" in caplog.text
