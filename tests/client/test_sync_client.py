"""The client without `await`."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from assay import Client, ClientClosed, ElicitationRequest, Server, SyncClient, ToolFailed
from assay.bundled.everything import server as everything
from assay.client.calls import Calls
from assay.client.options import ClientOptions
from tests.client.everything import python


def test_every_call_works() -> None:
    with SyncClient(everything) as client:
        assert client.is_open
        assert client.revision == everything.revisions[-1]
        assert client.server_info is not None and client.instructions is None
        assert "tools" in client.capabilities
        assert client.tools() and client.resources() and client.templates() and client.prompts()
        assert client.call("test_simple_text").text
        assert client.call_as(str, "test_simple_text") == client.call("test_simple_text").text
        assert client.read("test://static-text")[0].text
        assert client.prompt("test_simple_prompt").messages
        assert client.complete("arg1", "p", prompt="test_prompt_with_arguments").values
        assert client.ping() >= 0
        assert client.request("tools/list")["tools"]
        reports: list[Any] = []
        client.call_tool("test_tool_with_progress", progress=reports.append)
        assert len(reports) == 3


def test_errors_are_those_of_the_client() -> None:
    with SyncClient(everything) as client, pytest.raises(ToolFailed):
        client.call("test_error_handling")
    with pytest.raises(ClientClosed):
        client.tools()
    client.close()


def test_processes_are_started_on_its_loop() -> None:
    with SyncClient(python("-c", "from assay.bundled.everything import server; server.run()")) as client:
        assert client.call("test_simple_text").text


async def test_it_works_where_another_loop_runs() -> None:
    with SyncClient(everything) as client:
        assert client.tools()


def test_a_handler_that_calls_the_client_is_refused_instead_of_blocking() -> None:
    clients: list[SyncClient] = []

    def ask(request: ElicitationRequest) -> dict[str, Any]:
        clients[0].tools()
        return {}

    with SyncClient(everything, elicitation=ask) as client:
        clients.append(client)
        with pytest.raises(RuntimeError, match="a handler of a SyncClient cannot call it"):
            client.call("test_input_required_result_elicitation")


def test_a_failed_opening_can_be_repeated() -> None:
    client = SyncClient("http://127.0.0.1:1/mcp")
    for _ in range(2):
        with pytest.raises(ConnectionError):
            client.open()
    assert not client.is_open


def test_it_cannot_be_opened_twice() -> None:
    with SyncClient(Server("s")) as client, pytest.raises(RuntimeError, match="already open"):
        client.open()


def test_it_has_every_public_call_of_the_client_with_the_same_parameters() -> None:
    for name, function in inspect.getmembers(Calls, inspect.isfunction):
        if not name.startswith("_"):
            parameters = inspect.signature(getattr(SyncClient, name)).parameters
            assert list(parameters) == list(inspect.signature(function).parameters), name


def test_its_options_are_those_of_the_client() -> None:
    parameters = inspect.signature(Client).parameters
    assert set(ClientOptions.__annotations__) == set(parameters) - {"target"}
