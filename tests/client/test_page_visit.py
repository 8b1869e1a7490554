"""Calls that need a page to be visited first: the user is asked, and the call is sent again."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

from assay import Client, ElicitationRequest, Elicited, ServerError
from assay.client.answer import Handlers
from assay.client.page_visit import Completions
from assay.revisions.registry import DATES
from tests.client.scripted import process
from tests.driving.answer import PATIENCE

BEFORE: Final = DATES[-2]
PAGE: Final = {
    "mode": "url",
    "elicitationId": "e1",
    "url": "https://example.com/pay",
    "message": "Please pay",
}


def paid_server(data: Any, complete: str = "e1") -> Any:
    """Refuses each first call, and reports an elicitation as complete when it is pinged."""
    return process(f"""
calls = 0
for message in messages():
    if message["method"] == "ping":
        for name in ("unknown", {complete!r}):
            params = {{"elicitationId": name}}
            send({{"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": params}})
        answer(message, {{}})
        continue
    calls += 1
    if calls == 1:
        error = {{"code": -32042, "message": "payment required", "data": {data!r}}}
        send({{"jsonrpc": "2.0", "id": message["id"], "error": error}})
    else:
        content = {{"type": "text", "text": f"call {{calls}}"}}
        contents = {{"uri": "bill:1", "text": content["text"]}}
        answer(message, {{"content": [content], "contents": [contents]}})
""")


@pytest.mark.parametrize("kind", ["tool", "resource", "request"])
async def test_the_request_is_sent_again_after_the_visit(kind: str) -> None:
    requests: list[ElicitationRequest] = []

    async def visit(request: ElicitationRequest) -> Elicited[Any]:
        requests.append(request)
        await client.ping()  # the user is done before the handler is
        return Elicited("accept")

    target = paid_server({"elicitations": [PAGE]})
    async with Client(target, revision=BEFORE, elicitation=visit) as client, asyncio.timeout(PATIENCE):
        match kind:
            case "tool":
                assert (await client.call("buy")).text == "call 2"
            case "resource":
                assert (await client.read("bill:1"))[0].text == "call 2"
            case _:
                assert (await client.request("bills/pay"))["contents"][0]["text"] == "call 2"
    assert [(request.mode, request.url, request.id) for request in requests] == [
        ("url", "https://example.com/pay", "e1")
    ]


def accept(request: ElicitationRequest) -> Elicited[Any]:
    return Elicited("accept")


def decline(request: ElicitationRequest) -> None:
    return None


@pytest.mark.parametrize(
    ("data", "handlers"),
    [
        ({"elicitations": [PAGE]}, Handlers()),
        ({"elicitations": [PAGE]}, Handlers(elicitation=decline)),
        ({"elicitations": [PAGE]}, Handlers(elicitation=accept, further={"elicitation": {"form": {}}})),
        ({"elicitations": [PAGE]}, Handlers(elicitation=accept)),  # never reported as complete
        ({"elicitations": [PAGE, PAGE]}, Handlers(elicitation=accept)),
        (
            {"elicitations": [{**PAGE, "elicitationId": str(n)} for n in range(9)]},
            Handlers(elicitation=accept),
        ),
        ({"elicitations": [{**PAGE, "mode": "form"}]}, Handlers(elicitation=accept)),
        ({"elicitations": []}, Handlers(elicitation=accept)),
        ({}, Handlers(elicitation=accept)),
        (None, Handlers(elicitation=accept)),
    ],
)
async def test_otherwise_the_call_is_not_sent_again(data: Any, handlers: Handlers) -> None:
    error = ServerError(-32042, "payment required", data)
    assert not await Completions().visit(error, handlers, timeout=0.01, most=8)


async def test_without_a_handler_the_error_is_that_of_the_call() -> None:
    async with Client(paid_server({"elicitations": [PAGE]}), revision=BEFORE) as client:
        with pytest.raises(ServerError, match="payment required"):
            await client.call("buy")
