"""Every request is answered once, whatever exception its handler lets out, and the next one is served."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from assay import Server
from assay.protocol.middleware import Middleware, Serve
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Batching
from tests.driving.client import SESSIONED, Client, connect
from tests.driving.messages import call, request

NEWEST = HANDSHAKE[-1]
BATCHING = next(revision for revision in HANDSHAKE if revision.batching is not Batching.REFUSED)
INTERNAL = {"code": -32603, "message": "internal error"}


class Unusual(BaseException):
    """An exception that is not an `Exception`."""


ENDINGS: dict[str, Callable[[], BaseException]] = {
    "ValueError": lambda: ValueError("secret"),
    "TimeoutError": TimeoutError,
    "StopIteration": StopIteration,
    "StopAsyncIteration": StopAsyncIteration,
    "ExceptionGroup": lambda: ExceptionGroup("two", [ValueError(), TypeError()]),
    "CancelledError": asyncio.CancelledError,
    "GeneratorExit": GeneratorExit,
    "SystemExit": lambda: SystemExit(3),
    "KeyboardInterrupt": KeyboardInterrupt,
    "Unusual": Unusual,
    "group of one": lambda: BaseExceptionGroup("one", [asyncio.CancelledError()]),
    "group of several": lambda: BaseExceptionGroup("two", [Unusual(), asyncio.CancelledError()]),
}

REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "tool": ("tools/call", {"name": "{form}", "arguments": {}}),
    "resource": ("resources/read", {"uri": "test://{form}"}),
    "prompt": ("prompts/get", {"name": "{form}"}),
    "completion": (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "complete-{form}"}, "argument": {"name": "a", "value": ""}},
    ),
    "method": ("custom/{form}", {}),
}
FORMS = ("at_once", "suspended", "threaded")


def filled(template: Any, form: str) -> Any:
    if isinstance(template, dict):
        return {key: filled(value, form) for key, value in template.items()}
    return template.format(form=form) if isinstance(template, str) else template


async def turn_of_the_loop() -> None:
    turn = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(turn.set_result, None)
    await turn


def raising(make: Callable[[], BaseException]) -> Server:
    """A server whose handlers of every kind and form end with this exception."""
    server = Server("raising")

    async def at_once() -> str:
        raise make()

    async def suspended() -> str:
        await turn_of_the_loop()
        raise make()

    def threaded() -> str:
        raise make()

    for function in (at_once, suspended, threaded):
        name = function.__name__
        server.tool(function)
        server.resource(f"test://{name}")(function)
        server.prompt(function)
        server.method(f"custom/{name}")(function)
        server.prompts.add(lambda a: a, name=f"complete-{name}")
        server.completion(f"complete-{name}", "a")(function)
    return server


async def failed_once(client: Client, method: str, params: dict[str, Any]) -> bool:
    """Whether a request gets one answer, which is an error, and the next one is served."""
    request_id = await client.begin(method, params)
    answer = await client.answer(request_id)
    await client.result("ping")
    failed = "error" in answer or answer["result"].get("isError", False)
    return failed and len(client.answers(request_id)) == 1


@pytest.mark.parametrize("transport", SESSIONED)
@pytest.mark.parametrize("ending", ENDINGS)
async def test_any_exception_is_answered_once(
    ending: str, transport: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "assay")
    requests = {
        f"{kind} {form}": (filled(method, form), filled(params, form))
        for kind, (method, params) in REQUESTS.items()
        for form in FORMS
    }
    async with connect(raising(ENDINGS[ending]), transport, NEWEST) as client:
        client.own_methods = {f"custom/{form}" for form in FORMS}
        unanswered = [name for name, sent in requests.items() if not await failed_once(client, *sent)]
    assert unanswered == []


@pytest.mark.parametrize("transport", SESSIONED)
async def test_handler_that_awaits_a_cancelled_task_is_answered(transport: str) -> None:
    server = Server("raising")

    @server.tool
    async def wait() -> str:
        inner = asyncio.ensure_future(asyncio.Event().wait())
        asyncio.get_running_loop().call_soon(inner.cancel)
        await inner
        return "never"

    async with connect(server, transport, NEWEST) as client:
        assert await client.error("tools/call", {"name": "wait"}) == INTERNAL
        await client.result("ping")


@pytest.mark.parametrize("ending", ENDINGS)
async def test_exception_in_a_batch_leaves_the_other_answers(ending: str) -> None:
    server = raising(ENDINGS[ending])
    async with connect(server, "memory", BATCHING) as client:
        client._methods |= {name: "tools/call" for name in FORMS} | {"ping": "ping"}
        members = [call(name, name) for name in FORMS]
        await client.link.send([*members, request("ping", request_id="ping")])
        assert await client.answer("ping") == {"jsonrpc": "2.0", "id": "ping", "result": {}}
        for name in FORMS:
            answer = await client.answer(name)
            assert "error" in answer or answer["result"]["isError"]


async def test_handler_that_cancels_its_own_task_leaves_the_other_answers_of_a_batch() -> None:
    server = Server("raising")

    @server.tool
    async def cancel_itself() -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.Event().wait()
        return "never"

    async with connect(server, "memory", BATCHING) as client:
        client._methods |= {1: "tools/call", "ping": "ping"}
        await client.link.send([call("cancel_itself", 1), request("ping", request_id="ping")])
        assert (await client.answer("ping"))["result"] == {}
        assert (await client.answer(1))["error"] == INTERNAL


class RaisingMiddleware(Middleware):
    """Ends every `tools/list` with an exception."""

    def __init__(self, make: Callable[[], BaseException]) -> None:
        self._make = make

    def wrap(self, method: str, serve: Serve) -> Serve:
        async def fail(call: Any) -> NoReturn:
            raise self._make()

        return fail if method == "tools/list" else serve


@pytest.mark.parametrize("ending", ENDINGS)
async def test_exception_of_middleware_is_answered(ending: str) -> None:
    server = raising(ENDINGS[ending])
    server.use(RaisingMiddleware(ENDINGS[ending]))
    async with connect(server, "memory", NEWEST) as client:
        assert await client.error("tools/list") == INTERNAL


async def test_cancellation_by_the_owner_of_the_task_propagates() -> None:
    begun = asyncio.Event()
    server = Server("owned")

    @server.tool
    async def wait() -> None:
        begun.set()
        await asyncio.Event().wait()

    serving = asyncio.ensure_future(server.handle(call("wait")))
    await begun.wait()
    serving.cancel()
    await asyncio.wait([serving])
    assert serving.cancelled()


async def test_closed_coroutine_is_not_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    server = Server("closed")
    never = asyncio.get_running_loop().create_future()

    @server.tool
    async def wait() -> None:
        await never

    serving = server.handle(call("wait"))
    serving.send(None)
    serving.close()
    assert caplog.records == []


async def test_exception_after_a_cancellation_is_not_answered() -> None:
    """The client has cancelled the request, so nothing is sent, whatever the handler does then."""
    begun = asyncio.Event()
    server = Server("cancelled")

    @server.tool
    async def wait() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise SystemExit(3)

    async with connect(server, "memory", NEWEST) as client:
        request_id = await client.begin("tools/call", {"name": "wait"})
        await begun.wait()
        await client.notify("notifications/cancelled", {"requestId": request_id})
        await client.link.settled()
        await client.result("ping")
        assert client.answers(request_id) == []
