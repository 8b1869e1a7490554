"""Calls that need a page to be visited first: the user is asked, and the call is sent again."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

from assay import Client, ClientLimits, ElicitationRequest, Elicited, ServerError
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
        answer(message, {{"content": [{{"type": "text", "text": f"call {{calls}}"}}]}})
""")


async def test_the_call_is_sent_again_after_the_visit() -> None:
    requests: list[ElicitationRequest] = []

    async def visit(request: ElicitationRequest) -> Elicited[Any]:
        requests.append(request)
        await client.ping()  # the user is done before the handler is
        return Elicited("accept")

    target = paid_server({"elicitations": [PAGE]})
    async with Client(target, revision=BEFORE, elicitation=visit) as client, asyncio.timeout(PATIENCE):
        assert (await client.call("buy")).text == "call 2"
    assert [(request.mode, request.url, request.id) for request in requests] == [
        ("url", "https://example.com/pay", "e1")
    ]


def accept(request: ElicitationRequest) -> Elicited[Any]:
    return Elicited("accept")


@pytest.mark.parametrize(
    ("data", "options"),
    [
        ({"elicitations": [PAGE]}, {}),
        ({"elicitations": [PAGE]}, {"elicitation": lambda request: None}),
        ({"elicitations": [PAGE]}, {"elicitation": accept, "capabilities": {"elicitation": {"form": {}}}}),
        ({"elicitations": [PAGE]}, {"elicitation": accept, "timeout": 0.1}),
        ({"elicitations": [PAGE, PAGE]}, {"elicitation": accept}),
        (
            {"elicitations": [PAGE]},
            {"elicitation": accept, "timeout": 0.1, "limits": ClientLimits(questions=1)},
        ),
        ({"elicitations": [{**PAGE, "mode": "form"}]}, {"elicitation": accept}),
        ({"elicitations": []}, {"elicitation": accept}),
        ({}, {"elicitation": accept}),
        (None, {"elicitation": accept}),
    ],
)
async def test_otherwise_the_error_is_that_of_the_call(data: Any, options: dict[str, Any]) -> None:
    async with Client(paid_server(data), revision=BEFORE, **options) as client:
        with pytest.raises(ServerError, match="payment required") as caught:
            await client.call("buy")
        assert caught.value.data == data
