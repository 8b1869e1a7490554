"""Tasks that one process runs and another shows, over each store that processes can share."""

from __future__ import annotations

import asyncio
from typing import Any

from assay import Context
from assay.revisions.registry import HANDSHAKE
from tests.driving.asgi import AsgiPeer
from tests.driving.messages import call, request
from tests.store.backend import Backend
from tests.transport.shared import Worker, Workers, workers

NEWEST = HANDSHAKE[-1]


def add_tools(worker: Worker) -> None:
    async def slow(ctx: Context) -> str:
        worker.started.set()
        try:
            await worker.release.wait()
        except asyncio.CancelledError:
            worker.cancelled.set()
            raise
        return "done"

    async def confirm(ctx: Context) -> str:
        return (await ctx.elicit("sure?", bool)).action

    worker.server.tool(slow, task="optional")
    worker.server.tool(confirm, task="optional")


def as_task(name: str) -> dict[str, Any]:
    message = call(name, "begin")
    message["params"]["task"] = {}
    return message


async def begun(serving: Workers, name: str) -> tuple[AsgiPeer, AsgiPeer, str]:
    """A client with a task in the first process; the same client at the second; and the id of the task."""
    client = await AsgiPeer(serving.apps[0], principal="ada").shake_hands(NEWEST, elicitation={})
    answer = await client.post(as_task(name))
    return client, serving.moved(client, 1, principal="ada"), answer.json["result"]["task"]["taskId"]


async def task_of(client: AsgiPeer, task_id: str) -> dict[str, Any]:
    answer: dict[str, Any] = (await client.post(request("tasks/get", {"taskId": task_id}, "get"))).json
    return answer


async def test_result_is_awaited_at_another_process(backend: Backend) -> None:
    async with workers(backend, prepare=add_tools) as serving:
        _, moved, task_id = await begun(serving, "slow")
        waiting = moved.begin("POST", request("tasks/result", {"taskId": task_id}))
        await serving.workers[0].started.wait()
        assert (await task_of(moved, task_id))["result"]["status"] == "working"
        serving.workers[0].release.set()
        assert (await waiting.complete()).json["result"]["content"][0]["text"] == "done"


async def test_cancellation_at_another_process_ends_the_handler(backend: Backend) -> None:
    async with workers(backend, prepare=add_tools) as serving:
        client, moved, task_id = await begun(serving, "slow")
        await serving.workers[0].started.wait()
        answer = await moved.post(request("tasks/cancel", {"taskId": task_id}))
        assert answer.json["result"]["status"] == "cancelled"
        async with asyncio.timeout(5):
            await serving.workers[0].cancelled.wait()
        assert (await task_of(client, task_id))["result"]["status"] == "cancelled"


async def test_question_of_a_task_is_answered_at_another_process(backend: Backend) -> None:
    async with workers(backend, prepare=add_tools) as serving:
        _, moved, task_id = await begun(serving, "confirm")
        waiting = moved.begin("POST", request("tasks/result", {"taskId": task_id}))
        question = await waiting.message()
        assert question["method"] == "elicitation/create"
        reply = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}
        assert (await moved.post(reply)).status == 202
        assert (await waiting.message())["result"]["content"][0]["text"] == "decline"


async def test_error_as_the_answer_to_a_question_reaches_the_handler(backend: Backend) -> None:
    async with workers(backend, prepare=add_tools) as serving:
        _, moved, task_id = await begun(serving, "confirm")
        waiting = moved.begin("POST", request("tasks/result", {"taskId": task_id}))
        question = await waiting.message()
        reply = {"jsonrpc": "2.0", "id": question["id"], "error": {"code": -1, "message": "no"}}
        assert (await moved.post(reply)).status == 202
        assert (await waiting.message())["result"]["isError"]


async def test_task_of_a_process_that_died_has_failed(backend: Backend) -> None:
    async with workers(backend, prepare=add_tools) as serving:
        _, moved, task_id = await begun(serving, "slow")
        serving.bury(0)
        task = (await task_of(moved, task_id))["result"]
        assert task["status"] == "failed" and "has ended" in task["statusMessage"]
        result = await moved.post(request("tasks/result", {"taskId": task_id}))
        assert result.json["error"]["code"] == -32603


async def test_task_is_unknown_to_another_principal_at_any_process(backend: Backend) -> None:
    async with workers(backend, prepare=add_tools) as serving:
        _, _, task_id = await begun(serving, "slow")
        for app in serving.apps:
            other = await AsgiPeer(app, principal="eve").shake_hands(NEWEST)
            assert "unknown task" in (await task_of(other, task_id))["error"]["message"]
