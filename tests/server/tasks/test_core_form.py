"""Tasks of the core: the client asks for them, and gets the result with `tasks/result`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp_types import CreateTaskResult, GetTaskResult, ListTasksResult, TaskStatusNotificationParams

from assay import Context, Limits
from assay.protocol.task import RELATED
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision, TaskForm
from tests.driving.describing import ASKABLE
from tests.server.scripted import ScriptedClient, finished, quiescence
from tests.server.tasks.subject import NAME, Subject

OTHERS = [revision for revision in HANDSHAKE if revision.tasks is TaskForm.ABSENT]
ACCEPTED: dict[str, Any] = {"action": "accept", "content": {"value": True}}


def client_of(subject: Subject, principal: Any = None, **options: Any) -> ScriptedClient:
    return ScriptedClient(subject.server, capabilities=ASKABLE, principal=principal, **options)


async def begin(client: ScriptedClient, tool: str, ttl: int | None = None, **arguments: Any) -> str:
    task = {} if ttl is None else {"ttl": ttl}
    created = await client.result("tools/call", name=tool, arguments=arguments, task=task)
    return CreateTaskResult.model_validate(created).task.task_id


def notifications(client: ScriptedClient, method: str) -> list[Any]:
    return [message["params"] for message in client.received_so_far() if message.get("method") == method]


async def test_the_result_is_that_of_the_call_with_its_task() -> None:
    subject = Subject()
    async with client_of(subject) as client:
        plain = await client.call("large", size=3)
        task_id = await begin(client, "large", size=3)
        result = await client.result("tasks/result", taskId=task_id)
        assert result.pop("_meta") == {RELATED: {"taskId": task_id}}
        assert result == plain
        shown = GetTaskResult.model_validate(await client.result("tasks/get", taskId=task_id))
        assert (shown.status, shown.ttl, shown.poll_interval) == ("completed", 3_600_000, 500)


async def test_the_result_is_awaited_until_the_task_has_ended() -> None:
    subject = Subject()
    async with client_of(subject) as client:
        task_id = await begin(client, "slow")
        waiting = asyncio.create_task(client.result("tasks/result", taskId=task_id))
        await quiescence()
        assert not waiting.done()
        subject.gate.set()
        assert (await finished(waiting))["content"][0]["text"] == "done"


async def test_an_error_of_a_tool_is_a_failure_with_a_result() -> None:
    subject = Subject()
    async with client_of(subject) as client:
        task_id = await begin(client, "fails")
        assert (await client.result("tasks/result", taskId=task_id))["isError"] is True
        shown = await client.result("tasks/get", taskId=task_id)
        assert (shown["status"], shown["statusMessage"]) == ("failed", "out of paper")
        task_id = await begin(client, "breaks")
        error = await client.error("tasks/result", taskId=task_id)
        assert error == {"code": -32050, "message": "broken", "data": {"part": 3}}


async def test_tools_tell_whether_they_run_as_tasks() -> None:
    async with client_of(Subject()) as client:
        tools = {tool["name"]: tool.get("execution") for tool in (await client.result("tools/list"))["tools"]}
    assert tools["slow"] == tools["later"] == {"taskSupport": "optional"}
    assert tools["must"] == {"taskSupport": "required"}
    assert tools["plain"] is None


@pytest.mark.parametrize("revision", OTHERS, ids=str)
async def test_tools_that_only_run_as_tasks_are_listed_where_tasks_exist(revision: Revision) -> None:
    async with client_of(Subject(), revision=revision.date) as client:
        names = {tool["name"] for tool in (await client.result("tools/list"))["tools"]}
    assert "must" not in names
    assert {"slow", "later", "plain"} <= names


async def test_calls_that_do_not_fit_their_tool_are_refused() -> None:
    async with client_of(Subject()) as client:
        assert (await client.error("tools/call", name="must", arguments={}))["code"] == -32601
        assert (await client.error("tools/call", name="plain", arguments={}, task={}))["code"] == -32601
        assert (await client.error("tools/call", name="unknown", arguments={}, task={}))["code"] == -32602


@pytest.mark.parametrize("revision", OTHERS, ids=str)
async def test_revisions_without_tasks_serve_plain_calls_only(revision: Revision) -> None:
    subject = Subject()
    async with client_of(subject, revision=revision.date) as client:
        answer = await client.result("tools/call", name="large", arguments={"size": 1}, task={})
        assert answer["content"][0]["text"] == "x"
        assert (await client.error("tools/call", name="must", arguments={}))["code"] == -32601
        assert (await client.error("tasks/get", taskId="x"))["code"] == -32601
        assert all("execution" not in tool for tool in (await client.result("tools/list"))["tools"])
        assert "tasks" not in (await client_of(subject, revision=revision.date).initialize())["capabilities"]


async def test_the_extension_does_not_enable_tasks_here() -> None:
    subject = Subject()
    async with ScriptedClient(subject.server, capabilities={"extensions": {NAME: {}}}) as client:
        assert "content" in await client.call("large", size=1)
    declared = (await client_of(subject).initialize())["capabilities"]
    assert "extensions" not in declared
    assert declared["tasks"] == {"cancel": {}, "requests": {"tools": {"call": {}}}}


async def test_questions_are_sent_to_the_client_that_awaits_the_result() -> None:
    subject = Subject()
    async with client_of(subject) as client:
        task_id = await begin(client, "confirm")
        await subject.settled(task_id, "input_required")
        assert all("id" not in message for message in client.received_so_far())
        waiting = asyncio.create_task(client.result("tasks/result", taskId=task_id))
        question = await client.receive()
        assert question["method"] == "elicitation/create"
        assert question["params"]["_meta"] == {RELATED: {"taskId": task_id}}
        await client.answer(question, ACCEPTED)
        assert (await finished(waiting))["content"][0]["text"] == "accept: True"


async def test_a_question_is_sent_again_to_a_client_that_comes_back() -> None:
    subject = Subject()
    async with client_of(subject) as client:
        task_id = await begin(client, "confirm")
        first = asyncio.create_task(client.request("tasks/result", taskId=task_id))
        await subject.settled(task_id, "input_required")
        await quiescence()
        lost = [message for message in client.received_so_far() if "id" in message]
        first.cancel()
        await quiescence()
        waiting = asyncio.create_task(client.result("tasks/result", taskId=task_id))
        again = await client.receive()
        assert again["params"] == lost[0]["params"]
        await client.answer(again, ACCEPTED)
        assert (await finished(waiting))["content"][0]["text"] == "accept: True"


async def test_progress_and_logs_name_the_task_and_use_the_original_token() -> None:
    subject = Subject()

    @subject.server.tool(task="optional")
    async def talks(ctx: Context) -> str:
        await ctx.progress(1, total=2)
        await ctx.log("error", "careful")
        return "said"

    async with client_of(subject) as client:
        request = {"name": "talks", "arguments": {}, "task": {}, "_meta": {"progressToken": "p"}}
        task_id = (await client.result("tools/call", **request))["task"]["taskId"]
        await subject.settled(task_id, "completed")
        messages = {message["method"]: message["params"] for message in client.received_so_far()}
    related = {RELATED: {"taskId": task_id}}
    assert messages["notifications/progress"] == {
        "progressToken": "p",
        "progress": 1,
        "total": 2,
        "_meta": related,
    }
    assert messages["notifications/message"]["_meta"] == related
    assert "_meta" not in messages["notifications/tasks/status"]


async def test_each_state_is_announced_once() -> None:
    subject = Subject()
    async with client_of(subject) as client:
        task_id = await begin(client, "confirm")
        waiting = asyncio.create_task(client.result("tasks/result", taskId=task_id))
        await subject.settled(task_id, "input_required")
        await quiescence()
        messages = client.received_so_far()
        await client.answer(next(message for message in messages if "id" in message), ACCEPTED)
        await finished(waiting)
        messages += client.received_so_far()
    states = [
        TaskStatusNotificationParams.model_validate(message["params"]).status
        for message in messages
        if message.get("method") == "notifications/tasks/status"
    ]
    assert states == ["input_required", "working", "completed"]


async def test_a_cancelled_task_has_no_result_and_cannot_be_cancelled_again() -> None:
    subject = Subject()
    async with client_of(subject) as client:
        task_id = await begin(client, "slow")
        await quiescence()
        shown = await client.result("tasks/cancel", taskId=task_id)
        assert (shown["taskId"], shown["status"]) == (task_id, "cancelled")
        assert (await client.error("tasks/cancel", taskId=task_id))["code"] == -32602
        assert (await client.error("tasks/result", taskId=task_id))["code"] == -32602
        await quiescence()
        assert subject.ended == ["slow"]


async def test_neither_a_cancelled_request_nor_a_closed_session_ends_a_task() -> None:
    subject = Subject()
    async with client_of(subject, "ada") as client:
        task_id = await begin(client, "slow")
        await client.cancel(2)
        await quiescence()
        assert (await client.result("tasks/get", taskId=task_id))["status"] == "working"
    async with client_of(subject, "ada") as client:
        subject.gate.set()
        assert (await client.result("tasks/result", taskId=task_id))["content"][0]["text"] == "done"


async def test_lists_show_the_tasks_of_their_caller_in_pages() -> None:
    subject = Subject(limits=Limits(client_tasks=500))
    async with client_of(subject, "ada") as ada, client_of(subject, "bob") as bob:
        ids = [await begin(ada, "large", size=1) for _ in range(150)]
        await begin(bob, "large", size=1)
        declared = (await client_of(subject, "ada").initialize())["capabilities"]
        assert declared["tasks"]["list"] == {}
        first = ListTasksResult.model_validate(await ada.result("tasks/list"))
        assert first.next_cursor is not None
        second = ListTasksResult.model_validate(await ada.result("tasks/list", cursor=first.next_cursor))
        assert second.next_cursor is None
        assert [task.task_id for task in (*first.tasks, *second.tasks)] == ids
        assert (await ada.error("tasks/list", cursor="bogus"))["code"] == -32602


async def test_callers_that_nobody_can_tell_apart_have_no_list() -> None:
    async with client_of(Subject()) as client:
        assert (await client.error("tasks/list"))["code"] == -32601


async def test_tools_called_from_code_run_as_plain_calls() -> None:
    subject = Subject()
    assert (await subject.server.tools.call("must")).text == "as a task"
