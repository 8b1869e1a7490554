"""What handlers keep for a client: with its session, else by principal, and never for another."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay import Context, Limits, Scope, Server
from assay.server.client_state import ClientState
from tests.server.scripted import ScriptedClient

LIMIT = 100


def make_server(**limits: int) -> Server:
    server = Server("test", limits=Limits(**limits))

    @server.tool
    async def keep(ctx: Context, value: Any, key: str = "x") -> str:
        ctx.session[key] = value
        return "kept"

    @server.tool
    async def kept(ctx: Context) -> dict[str, Any]:
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


async def test_what_is_kept_stays_in_its_session() -> None:
    server = make_server()
    async with ScriptedClient(server, principal="ada") as one, ScriptedClient(server, principal="ada") as two:
        await one.call("keep", value={"a": [1, None]})
        assert (await one.call("kept"))["structuredContent"] == {"x": {"a": [1, None]}}
        assert (await two.call("kept"))["structuredContent"] == {}
        assert await alone(server, "ada", "kept") == {}
        await one.call("forget")
        assert (await one.call("kept"))["structuredContent"] == {}


async def test_without_a_session_it_is_kept_for_the_principal() -> None:
    server = make_server()
    await alone(server, "ada", "keep", value=1)
    await alone(server, None, "keep", value=2)
    assert await alone(server, "ada", "kept") == {"x": 1}
    assert await alone(server, "bob", "kept") == {}
    assert await alone(server, None, "kept") == {"x": 2}
    async with ScriptedClient(server, principal="ada") as client:
        assert (await client.call("kept"))["structuredContent"] == {}


async def test_it_goes_on_in_a_session_that_is_restored() -> None:
    server = make_server()
    async with ScriptedClient(server) as client:
        client.session.changed = False
        await client.call("keep", value="model")
        assert client.session.changed
        record = client.session.record()
        restored = server.restore_session(record, lambda data: None)
        await client.call("keep", value="another")
    assert restored.client_state == {"x": b'"model"'}
    assert record.client_state == {"x": b'"model"'}
    server.close_session(restored)


async def test_the_principal_that_was_away_longest_is_forgotten_first() -> None:
    server = make_server(principals=2)
    for principal in ("ada", "bob"):
        await alone(server, principal, "keep", value=principal)
    await alone(server, "ada", "kept")
    await alone(server, "eve", "keep", value="eve")
    assert await alone(server, "bob", "kept") == {}
    assert await alone(server, "eve", "kept") == {"x": "eve"}


def test_what_is_read_is_a_copy_and_every_change_is_noted() -> None:
    changes: list[None] = []
    kept = ClientState({}, LIMIT, lambda: changes.append(None))
    kept["x"] = [1]
    kept["x"].append(2)
    assert (kept["x"], list(kept), len(kept), kept.get("y", 5)) == ([1], ["x"], 1, 5)
    del kept["x"]
    assert (len(changes), dict(kept)) == (2, {})
    with pytest.raises(KeyError):
        kept["x"]


def test_only_plain_json_is_kept() -> None:
    kept = ClientState({}, LIMIT, lambda: None)
    with pytest.raises(TypeError):
        kept["x"] = object()
    assert dict(kept) == {}


def test_too_much_is_refused_and_leaves_what_was_there() -> None:
    kept = ClientState({}, LIMIT, lambda: None)
    kept["x"] = "a" * (LIMIT - 3)
    kept["x"] = "b" * (LIMIT - 3)
    with pytest.raises(ValueError, match="too large"):
        kept["y"] = ""
    with pytest.raises(ValueError, match="too large"):
        kept["x"] = "c" * (LIMIT - 2)
    assert kept["x"][0] == "b"


async def test_a_handler_that_keeps_too_much_fails(caplog: pytest.LogCaptureFixture) -> None:
    server = make_server(kept_bytes=10)
    async with ScriptedClient(server) as client:
        assert (await client.call("keep", value="a" * 20))["isError"] is True
        assert (await client.call("kept"))["structuredContent"] == {}
    assert "session data too large" in caplog.text
