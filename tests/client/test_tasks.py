"""Tasks of a server, driven by the client: in both forms and on every transport of this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from assay import (
    Client,
    ClientError,
    InvalidAnswer,
    Server,
    ServerError,
    SyncClient,
    TaskCancelled,
    TaskOptions,
    ToolFailed,
)
from assay.client.task import DECLARED
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from tests.driving.hosts import on_assay
from tests.server.scripted import GUARD
from tests.server.tasks.subject import Subject

REVISIONS = [HANDSHAKE[-1].date, PER_REQUEST[-1].date]
in_each_form = pytest.mark.parametrize("revision", REVISIONS)


class Quick(Subject):
    """As the subject, polled without pauses."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for tool in self.server.tools:
            if tool.task is not None:
                tool.task = TaskOptions(tool.task.mode, poll_interval=0.001)


async def accept(request: Any) -> dict[str, Any]:
    return {"value": True}


@asynccontextmanager
async def opened(subject: Subject, revision: str, **options: Any) -> AsyncIterator[Client]:
    options = {"elicitation": accept, **options}
    async with asyncio.timeout(GUARD), Client(subject.server, revision=revision, **options) as client:
        yield client
        subject.gate.set()


@in_each_form
async def test_the_result_is_that_of_the_call(revision: str) -> None:
    async with opened(Quick(), revision) as client:
        task = await client.call_task("must")
        assert task.id
        assert (await task).text == "as a task"
        assert task.is_done
        assert (await task).text == "as a task"


@in_each_form
async def test_questions_are_answered_by_the_handlers(revision: str) -> None:
    asked: list[str] = []

    async def answer(request: Any) -> dict[str, Any]:
        asked.append(request.message)
        return {"value": True}

    async with opened(Quick(), revision, elicitation=answer) as client:
        assert (await (await client.call_task("confirm"))).text == "accept: True"
    assert asked == ["Sure?"]


@in_each_form
async def test_iteration_shows_each_change_and_ends_with_the_task(revision: str) -> None:
    subject = Quick()
    async with opened(subject, revision) as client:
        task = await client.call_task("slow")
        messages = []
        async for state in task:
            messages.append((state.status, state.message))
            if state.message == "half":
                subject.gate.set()
        assert messages[-1][0] == "completed"
        assert ("working", "half") in messages
        assert (await task).text == "done"


@in_each_form
async def test_another_client_continues_by_the_id(revision: str) -> None:
    subject = Quick()
    async with Client(subject.server, revision=revision) as first:
        task_id = (await first.call_task("slow")).id
    async with opened(subject, revision) as second:
        task = second.task(task_id, tool="slow")
        assert (await task.poll()).status == "working"
        subject.gate.set()
        assert (await task).text == "done"


@in_each_form
async def test_a_cancelled_task_raises_and_a_second_cancellation_is_no_error(revision: str) -> None:
    subject = Quick()
    async with opened(subject, revision) as client:
        task = await client.call_task("slow")
        await task.cancel()
        with pytest.raises(TaskCancelled, match=task.id):
            await task
        await task.cancel()
        await client.task(task.id).cancel()


@in_each_form
async def test_failures_are_those_of_a_call(revision: str) -> None:
    async with opened(Quick(), revision) as client:
        with pytest.raises(ToolFailed, match="out of paper"):
            await (await client.call_task("fails"))
        assert (await (await client.call_task("fails", check=False))).is_error
        with pytest.raises(ServerError) as raised:
            await (await client.call_task("breaks"))
        assert (raised.value.code, raised.value.data) == (-32050, {"part": 3})


@in_each_form
async def test_an_unknown_task_is_the_error_of_the_server(revision: str) -> None:
    async with opened(Quick(), revision) as client:
        for task_id in ("guessed", "", "é\r\nX: 1"):
            with pytest.raises(ClientError):
                await client.task(task_id)


async def test_a_question_without_a_handler_leaves_the_task_to_another_client() -> None:
    subject = Quick()
    declared = {"elicitation": {"form": {}}}
    async with opened(subject, REVISIONS[1], elicitation=None, capabilities=declared) as client:
        task = await client.call_task("confirm")
        with pytest.raises(InvalidAnswer, match="no handler"):
            await task
    async with opened(subject, REVISIONS[1]) as other:
        assert (await other.task(task.id)).text == "accept: True"


async def test_a_tool_without_tasks_is_answered_at_once_in_the_extension_and_refused_before() -> None:
    async with opened(Quick(), REVISIONS[1]) as client:
        task = await client.call_task("plain")
        assert (task.id, task.is_done) == ("", True)
        assert (await task).text == "started: False"
        with pytest.raises(ClientError, match="without a task"):
            await task.poll()
    async with opened(Quick(), REVISIONS[0]) as client:
        with pytest.raises(ClientError, match="does not run as a task"):
            await client.call_task("plain")


async def test_a_client_that_declares_tasks_gets_the_result_of_an_ordinary_call() -> None:
    declared = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
    async with opened(Quick(), REVISIONS[1], capabilities=declared) as client:
        assert (await client.call("must")).text == "as a task"


async def test_a_task_without_a_declaration_is_an_invalid_answer() -> None:
    server = Server("odd")

    @server.method("tools/odd")
    async def odd() -> dict[str, Any]:
        return {"resultType": "task", "taskId": "1", "status": "working"}

    async with Client(server, revision=REVISIONS[1]) as client:
        with pytest.raises(InvalidAnswer, match="unknown type: task"):
            await client.request("tools/odd", dict(DECLARED))


@pytest.mark.parametrize("revision", [HANDSHAKE[-2].date, REVISIONS[0]])
async def test_servers_without_tasks_are_named(revision: str) -> None:
    server = Server("plain")
    server.tools.add(Quick().plain)
    async with Client(server, revision=revision) as client:
        with pytest.raises(ClientError, match="use call_tool"):
            await client.call_task("plain")


@in_each_form
async def test_over_http_headers_name_the_task(revision: str) -> None:
    subject = Quick()
    async with (
        on_assay(subject.server.asgi()) as port,
        Client(f"http://127.0.0.1:{port}/mcp", revision=revision, elicitation=accept) as client,
    ):
        assert (await (await client.call_task("confirm"))).text == "accept: True"


def test_a_synchronous_client_runs_a_task() -> None:
    server = Server("test")

    @server.tool(task=TaskOptions("required", poll_interval=0.001))
    async def must() -> str:
        return "as a task"

    with SyncClient(server) as client:
        task = client.call_task("must")
        assert task.poll().id == task.id
        assert client.task(task.id).result().text == "as a task"
        task.cancel()
        assert task.state is not None
