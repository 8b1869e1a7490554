"""Debug mode: what clients learn about exceptions; without it they learn nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from assay import Context, MiddlewareCall, Next, ResourceNotFound, RpcError, Server, ToolError
from assay.middleware import Result
from assay.server.dispatch.exception_details import FRAMES, MESSAGE_LENGTH, TRACEBACK_LENGTH, describe
from tests.server.scripted import ScriptedClient

SECRET = "password is hunter2"


def raising(error: BaseException) -> Callable[[], Any]:
    async def work() -> str:
        raise error

    return work


def make_server(error: BaseException, *, debug: bool) -> Server:
    server = Server("test", debug=debug)
    work = raising(error)
    server.tools.add(work)
    server.resources.add("r://work", work)
    server.prompts.add(work)
    server.method("x/work")(work)
    return server


REQUESTS = {
    "resources/read": {"uri": "r://work"},
    "prompts/get": {"name": "work"},
    "x/work": {},
}


async def test_tool_result_has_type_message_and_traceback() -> None:
    async with ScriptedClient(make_server(ValueError(SECRET), debug=True)) as client:
        result = await client.call("work")
    text = result["content"][0]["text"]
    assert result["isError"]
    assert text.startswith(f"tool work failed: ValueError: {SECRET}\n\nTraceback (most recent call last):\n")
    assert "in work\n    raise error\n" in text
    assert text.endswith(f"ValueError: {SECRET}")


async def test_traceback_has_middleware_and_handler_without_the_framework_between() -> None:
    server = make_server(SystemExit("stop"), debug=True)

    @server.middleware
    async def watch(call: MiddlewareCall, next: Next[Result]) -> Result:
        return await next(call)

    async with ScriptedClient(server) as client:
        trace = (await client.error("tools/call", name="work"))["data"]["traceback"]
    places = [line.rpartition(" in ")[2] for line in trace.splitlines() if line.startswith("  File ")]
    assert places == ["watch", "work"]


async def test_traceback_has_what_the_handler_called() -> None:
    server = Server("test", debug=True)

    @server.tool
    async def work(ctx: Context) -> str:
        return str(ctx.request_context)  # type: ignore[attr-defined]

    async with ScriptedClient(server) as client:
        assert "in __getattr__" in await client.text_of("work")


@pytest.mark.parametrize("method", REQUESTS)
async def test_error_has_type_message_and_traceback(method: str) -> None:
    async with ScriptedClient(make_server(KeyError("colour"), debug=True)) as client:
        error = await client.error(method, **REQUESTS[method])
    assert (error["code"], error["message"]) == (-32603, "internal error: KeyError: 'colour'")
    assert (error["data"]["exception"], error["data"]["message"]) == ("KeyError", "'colour'")
    assert "raise error" in error["data"]["traceback"]
    assert error["data"].get("uri") == REQUESTS[method].get("uri")


@pytest.mark.parametrize("method", ["tools/call", *REQUESTS])
async def test_nothing_is_disclosed_by_default(method: str, caplog: pytest.LogCaptureFixture) -> None:
    params = {"tools/call": {"name": "work"}, **REQUESTS}[method]
    async with ScriptedClient(make_server(ValueError(SECRET), debug=False)) as client:
        reply = await client.request(method, **params)
    text = json.dumps(reply)
    assert "internal error" in text
    assert SECRET not in text and "ValueError" not in text and "Traceback" not in text
    assert SECRET in caplog.text


async def test_debug_can_be_switched_on_later() -> None:
    server = make_server(ValueError(SECRET), debug=False)
    server.debug = True
    async with ScriptedClient(server) as client:
        assert SECRET in await client.text_of("work")


@pytest.mark.parametrize(
    ("error", "text"), [(ToolError("no such city"), "no such city"), (RpcError(7, "refused"), "refused")]
)
async def test_errors_meant_for_the_client_stay_as_they_are(error: Exception, text: str) -> None:
    async with ScriptedClient(make_server(error, debug=True)) as client:
        reply = await client.request("tools/call", name="work")
    message = reply["result"]["content"][0]["text"] if "result" in reply else reply["error"]["message"]
    assert message == text


async def test_data_of_a_resource_error_stays_as_it_is() -> None:
    async with ScriptedClient(make_server(ResourceNotFound("r://other"), debug=True)) as client:
        assert (await client.error("resources/read", uri="r://work"))["data"] == {"uri": "r://other"}


async def test_exception_that_would_end_the_process_is_described() -> None:
    async with ScriptedClient(make_server(SystemExit(3), debug=True)) as client:
        assert (await client.error("tools/call", name="work"))["message"] == "internal error: SystemExit: 3"


def caught(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as raised:
        return raised


def test_text_that_would_act_on_a_terminal_is_shown() -> None:
    details = describe(caught(ValueError("\x1b[2J\u202eabc\n::error::x")))
    assert details.message == "␛[2J\\u202eabc␊::error::x"
    assert "\x1b" not in details.traceback and "\u202e" not in details.traceback


def test_long_messages_and_tracebacks_are_cut() -> None:
    details = describe(caught(ValueError("m" * 1_000_000)))
    assert len(details.message) == MESSAGE_LENGTH + 1 and details.message.endswith("…")
    assert "raise error" in details.traceback and len(details.traceback) < 2 * MESSAGE_LENGTH


def test_chain_of_many_exceptions_is_cut_to_its_end() -> None:
    error: BaseException = ValueError("first")
    for number in range(100):
        cause, error = error, caught(ValueError(f"number {number}: {'x' * 500}"))
        error.__cause__ = cause
    details = describe(error)
    assert len(details.traceback) <= TRACEBACK_LENGTH + 2
    assert details.traceback.startswith("…\n") and "number 99" in details.traceback


def test_deep_recursion_keeps_the_last_frames() -> None:
    def down(level: int) -> None:
        if not level:
            raise ValueError("bottom")
        below(level)

    def below(level: int) -> None:
        down(level - 1)

    try:
        down(200)
    except ValueError as error:
        details = describe(error)
    assert details.traceback.count("File ") == FRAMES
    assert details.traceback.endswith("ValueError: bottom")


def test_exception_without_a_readable_message_is_described() -> None:
    class Broken(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    assert "cannot be read" in describe(caught(Broken())).summary


async def test_frames_of_the_framework_are_left_out() -> None:
    async with ScriptedClient(make_server(ValueError("x"), debug=True)) as client:
        text = await client.text_of("work")
    assert text.count("File ") == 1
