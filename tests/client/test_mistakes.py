"""Mistakes of people who know other clients: the error names the fix."""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import assay
from assay import Client, ConnectionFailed, Server, Stdio, SyncClient

server = Server("calculator")


@server.tool
async def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


@pytest.mark.parametrize(
    ("target", "fix"),
    [
        ("localhost:8000/mcp", r"write 'http://localhost:8000/mcp'"),
        ("127.0.0.1:8000", r"write 'http://127.0.0.1:8000'"),
        ("example.com/mcp", r"write 'https://example.com/mcp'"),
        ("server.py", r"Stdio\(sys.executable, 'server.py'\)"),
        (Path("server.py"), r"Stdio\(sys.executable, 'server.py'\)"),
        ("dist/server.js", r"Stdio\('node', 'dist/server.js'\)"),
        ("python server.py", r"Stdio\('python', 'server.py'\)"),
        ("python 'my server.py'", r"Stdio\('python', 'my server.py'\)"),
        ("uvx 'some", r"Stdio\('uvx', \"'some\"\)"),
        (["python", "server.py"], r"Stdio\('python', 'server.py'\)"),
        (assay, "pass the server in assay"),
        (None, "not to None"),
        (Server, "not to the class Server: create one"),
    ],
)
def test_a_wrong_target(target: Any, fix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "server.py").write_text("import assay")
    with pytest.raises((TypeError, ValueError), match=fix):
        Client(target)


@pytest.mark.parametrize(
    ("options", "fix"),
    [
        ({"timeout": "3"}, "timeout must be a number of seconds or None, not str"),
        ({"timeout": timedelta(seconds=3)}, "not timedelta"),
        ({"timeout": -1}, "must be 0 or more seconds: -1"),
        ({"timeout": float("nan")}, "must be 0 or more seconds: nan"),
        ({"timeout": True}, "not bool"),
        ({"log_level": "verbose"}, "unknown log_level 'verbose': one of debug, info"),
        ({"tls": False}, r"tls must be ssl.create_default_context\(cafile=…\), not bool"),
        ({"limits": {"pages": 1}}, r"limits must be ClientLimits\(…\), not dict"),
        ({"retry": 3}, r"retry must be Retry\(…\), not int"),
        ({"headers": ["a: b"]}, "headers must be a dict, not list"),
        ({"capabilities": ["sampling"]}, "capabilities must be a dict, not list"),
        ({"name": 3}, "name must be a text, not int"),
        ({"roots": [3]}, "roots must be a list of Root, str or Path"),
        ({"roots": lambda context: []}, r"roots is called with no value, but takes \(context\)"),
        ({"elicitation": lambda message, kind: {}}, r"called with one value, but takes \(message, kind\)"),
        ({"on_log": lambda: None}, r"on_log is called with one value, but takes \(\)"),
        ({"on_state": lambda change, *, sink: None}, r"takes \(change, \*, sink\)"),
        ({"sampling": "gpt"}, "sampling must be a function, not str"),
        ({"on_log": 3}, "on_log must be a function, not int"),
        ({"log_handler": print}, "has no option log_handler=: here it is on_log="),
        ({"sampling_callback": print}, "has no option sampling_callback=: here it is sampling="),
    ],
)
def test_a_wrong_option(options: dict[str, Any], fix: str) -> None:
    for kind in (Client, SyncClient):
        with pytest.raises((TypeError, ValueError), match=fix):
            kind(server, **options)


def test_variables_and_headers_that_are_not_texts() -> None:
    with pytest.raises(TypeError, match="env must have texts: 'N' is int"):
        Stdio("program", env={"N": 3})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="the value of header X must be a text, not int"):
        Client("http://localhost/mcp", headers={"X": 1})  # type: ignore[dict-item]


async def test_a_command_as_one_word() -> None:
    with pytest.raises(ConnectionFailed, match=r"several words: Stdio\('python', 'server.py'\)"):
        await Client(Stdio("python server.py")).open()


@pytest.mark.parametrize("options", [{"args": ["server.py"]}, {"command": "python"}])
def test_a_command_with_the_options_of_others(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"has no option (args|command)=: .* separate words: Stdio\('uvx', "):
        Stdio("python", **options)


@pytest.mark.parametrize(
    ("call", "fix"),
    [
        (lambda client: client.call_tool("add", a=1), r"arguments are a dict, call_tool\(name, {'a': …}\)"),
        (lambda client: client.start_tool("add", a=1), r"arguments are a dict, start_tool\(name, {'a': …}\)"),
        (lambda client: client.call_tool("add", progress_handler=print), "here it is progress="),
        (lambda client: client.call_tool("add", raise_on_error=False), "here it is check="),
        (lambda client: client.call_tool("add", "a=1"), "arguments of tool add must be a dict, not str"),
        (
            lambda client: client.call_tool("add", object()),
            "arguments of tool add must be a dict, not object",
        ),
        (lambda client: client.call_tool(None), "name of the tool must be a text, not NoneType"),
        (lambda client: client.call_as("add", int), r"the order is call_as\(Type, name, key=value\)"),
        (
            lambda client: client.call("add", a="\ud800"),
            "argument a of tool add cannot be sent as JSON: .*surrog",
        ),
        (lambda client: client.call_tool("add", {"a": 1}, timeout="5"), "number of seconds or None, not str"),
        (lambda client: client.call_tool("add", {"a": 1}, timeout=-1), "0 or more seconds: -1"),
        (
            lambda client: client.call_tool("add", {"a": 1}, progress=3),
            "progress must be a function, not int",
        ),
        (
            lambda client: client.prompt("hello", name=3),
            "argument name of prompt hello must be a text, not int",
        ),
        (lambda client: client.read(3), "the URI of a resource must be a text, not int"),
        (lambda client: client.request(None), "the method must be a text, not NoneType"),
        (lambda client: client.request("tools/list", [1]), "of tools/list must be a dict, not list"),
        (lambda client: client.subscribe(["data://x"]), r"not list: write subscribe\(uri\)"),
        (lambda client: client.listen(uris=[3]), "the URI of a resource must be a text, not int"),
    ],
)
async def test_a_wrong_call(call: Callable[[Client], Any], fix: str) -> None:
    async with Client(server) as client:
        with pytest.raises((TypeError, ValueError), match=fix):
            outcome = call(client)
            if inspect.isawaitable(outcome):
                await outcome
        assert (await client.call("add", a=1)).text == "3"


@pytest.mark.parametrize("method", ["call", "prompt"])
async def test_arguments_without_names(method: str) -> None:
    async with Client(server) as client:
        with pytest.raises(TypeError, match="pass arguments by name, "):
            await getattr(client, method)("add", {"a": 1})


def test_arguments_without_names_for_a_sync_client() -> None:
    with SyncClient(server) as client, pytest.raises(TypeError, match=r"call_tool\(name, {…}\)"):
        client.call("add", {"a": 1})  # type: ignore[arg-type]


async def test_an_argument_that_is_not_json() -> None:
    async with Client(server) as client:
        with pytest.raises(TypeError, match="argument b of tool add cannot be sent as JSON"):
            await client.call("add", a=1, b=object())
        assert (await client.call("add", a=1)).text == "3"


async def test_names_of_other_clients() -> None:
    async with Client(server) as client:
        with pytest.raises(AttributeError, match=r"'list_tools': here it is tools\(\)"):
            client.list_tools  # type: ignore[attr-defined]  # noqa: B018
        result = await client.call("add", a=1)
        assert [block.type for block in result.content] == ["text"]
        with pytest.raises(AttributeError, match=r"use structured, or client.call_as\(Type, …\)"):
            result.data  # type: ignore[attr-defined]  # noqa: B018
        assert not hasattr(result, "anything")
        assert not hasattr(client, "anything")


def test_the_wrong_kind_of_with() -> None:
    with pytest.raises(TypeError, match="write `async with Client"), Client(server):  # type: ignore[attr-defined]
        pass

    async def main() -> None:
        async with SyncClient(server):  # type: ignore[attr-defined]
            pass

    with pytest.raises(TypeError, match="write `with SyncClient"):
        asyncio.run(main())


async def test_tracebacks_do_not_lead_through_the_client(unused_tcp_port: int) -> None:
    with pytest.raises(ConnectionFailed) as raised:
        await Client(f"http://127.0.0.1:{unused_tcp_port}/mcp").open()
    assert len(traceback.extract_tb(raised.value.__traceback__)) == 2
    assert isinstance(raised.value.__cause__, ConnectionRefusedError)


async def test_tracebacks_of_calls_are_short() -> None:
    async with Client(server) as client:
        with pytest.raises(assay.ServerError) as raised:
            await client.request("nothing")
    assert len(traceback.extract_tb(raised.value.__traceback__)) <= 3


class _Log:
    def __init__(self) -> None:
        self.messages: list[object] = []

    def take(self, message: object, prefix: str = "") -> None:
        self.messages.append(message)

    def __call__(self, message: object) -> None:
        self.messages.append(message)


@pytest.mark.parametrize(
    "function", [_Log().take, _Log(), print, [].append, partial(_Log.take, _Log()), vars]
)
def test_functions_of_every_kind_are_taken(function: Any) -> None:
    Client(server, on_log=function, on_state=function, elicitation=function)
