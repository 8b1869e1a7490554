"""Tasks as an extension: the server decides, the client polls, questions are answered by update."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from assay import Busy, Context, Limits, Server, TaskOptions
from assay.server.calls.current_context import current_context
from tests.driving.describing import DescribingClient, answering
from tests.server.scripted import quiescence
from tests.server.tasks.subject import DECLARED, NAME, Clock, Subject

ACCEPTED: dict[str, Any] = {"action": "accept", "content": {"value": True}}


async def test_a_call_becomes_a_task_whose_result_is_that_of_the_call() -> None:
    subject = Subject()
    plain = (await subject.ask("tools/call", {}, name="large", arguments={"size": 3}))["result"]
    created = (await subject.ask("tools/call", name="large", arguments={"size": 3}))["result"]
    del created["_meta"]
    task_id = created.pop("taskId")
    assert len(task_id) == 48
    times = {created.pop("createdAt"), created.pop("lastUpdatedAt")}
    assert len(times) == 1
    assert created == {"resultType": "task", "status": "working", "ttlMs": 3_600_000, "pollIntervalMs": 500}
    shown = await subject.outcome(task_id)
    assert (shown["resultType"], shown["status"], shown["result"]) == ("complete", "completed", plain)


async def test_a_task_can_be_read_while_it_works_and_shows_its_progress() -> None:
    subject = Subject()
    task_id = await subject.begin("slow")
    shown = await subject.get(task_id)
    assert (shown["status"], "result" in shown, "error" in shown) == ("working", False, False)
    async with asyncio.timeout(5):
        while (await subject.get(task_id)).get("statusMessage") != "half":
            await quiescence()
    subject.gate.set()
    assert (await subject.outcome(task_id))["result"]["content"][0]["text"] == "done"


async def test_errors_of_tools_are_results_and_errors_of_the_protocol_are_failures() -> None:
    subject = Subject()
    shown = await subject.outcome(await subject.begin("fails"))
    assert (shown["status"], shown["result"]["isError"]) == ("completed", True)
    shown = await subject.outcome(await subject.begin("breaks"))
    assert (shown["status"], "result" in shown) == ("failed", False)
    assert shown["error"] == {"code": -32050, "message": "broken", "data": {"part": 3}}


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
async def test_clients_that_did_not_declare_the_extension_are_refused(method: str) -> None:
    error = (await Subject().ask(method, {}, taskId="gate-test"))["error"]
    assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": {"extensions": {NAME: {}}}})


async def test_without_the_extension_a_tool_runs_as_a_plain_call_or_not_at_all() -> None:
    subject = Subject()
    answer = await subject.ask("tools/call", {}, name="large", arguments={"size": 1}, task={"ttl": 5})
    assert answer["result"]["content"][0]["text"] == "x"
    assert (await subject.ask("tools/call", {}, name="must", arguments={}))["error"]["code"] == -32021
    assert len(subject.store) == 0


async def test_methods_of_the_other_form_do_not_exist() -> None:
    subject = Subject()
    for method in ("tasks/result", "tasks/list"):
        assert (await subject.ask(method, taskId="x"))["error"]["code"] == -32601
    capabilities = (await subject.ask("server/discover"))["result"]["capabilities"]
    assert capabilities["extensions"] == {NAME: {}}
    assert "tasks" not in capabilities
    tools = (await subject.ask("tools/list"))["result"]["tools"]
    assert all("execution" not in tool for tool in tools)


async def test_a_server_without_such_tools_has_no_tasks() -> None:
    server = Server("test")
    server.tools.add(Subject().must)
    assert NAME not in server.extensions


async def test_a_question_is_answered_by_update_and_the_handler_goes_on() -> None:
    subject = Subject()
    task_id = await subject.begin("confirm")
    await subject.settled(task_id, "input_required")
    shown = await subject.get(task_id)
    assert shown["inputRequests"]["sure"]["method"] == "elicitation/create"
    answer = await subject.ask("tasks/update", taskId=task_id, inputResponses={"sure": ACCEPTED, "x": {}})
    assert answer["result"].keys() == {"resultType", "_meta"}
    shown = await subject.outcome(task_id)
    assert shown["result"]["content"][0]["text"] == "accept: True"
    assert "inputRequests" not in shown


async def test_questions_asked_at_once_are_answered_one_by_one() -> None:
    subject = Subject()
    task_id = await subject.begin("both")
    await subject.settled(task_id, "input_required")
    await quiescence()
    questions = (await subject.get(task_id))["inputRequests"]
    name, sure = sorted(questions, key=lambda key: questions[key]["params"]["message"])
    reply = {"action": "accept", "content": {"value": "Ada"}}
    await subject.ask("tasks/update", taskId=task_id, inputResponses={name: reply})
    await quiescence()
    shown = await subject.get(task_id)
    assert (shown["status"], list(shown["inputRequests"])) == ("input_required", [sure])
    await subject.ask("tasks/update", taskId=task_id, inputResponses={sure: ACCEPTED})
    assert (await subject.outcome(task_id))["result"]["content"][0]["text"] == "Ada True"


async def test_a_key_of_a_question_is_never_used_twice() -> None:
    subject = Subject()

    @subject.server.tool(task="optional")
    async def again(ctx: Context) -> str:
        for _ in range(3):
            await ctx.elicit("Sure?", bool, key="sure")
        return "asked"

    task_id, keys = await subject.begin("again"), []
    for _ in range(3):
        await subject.settled(task_id, "input_required")
        (key,) = (await subject.get(task_id))["inputRequests"]
        keys.append(key)
        await subject.ask("tasks/update", taskId=task_id, inputResponses={key: ACCEPTED})
        await quiescence()
    assert len(set(keys)) == 3
    await subject.settled(task_id, "completed")


async def test_a_question_times_out_and_is_withdrawn() -> None:
    subject = Subject()

    @subject.server.tool(task="optional")
    async def hasty(ctx: Context) -> str:
        await ctx.elicit("Sure?", bool, timeout=0.001)
        return "never"

    shown = await subject.outcome(await subject.begin("hasty"))
    assert "did not answer" in shown["result"]["content"][0]["text"]


async def test_an_answer_that_does_not_fit_reaches_the_handler_as_an_error() -> None:
    subject = Subject()
    task_id = await subject.begin("confirm")
    await subject.settled(task_id, "input_required")
    await subject.ask("tasks/update", taskId=task_id, inputResponses={"sure": {"action": 5}})
    shown = await subject.outcome(task_id)
    assert shown["result"]["isError"] is True


async def test_a_cancelled_task_ends_its_handler_and_stays_cancelled() -> None:
    subject = Subject()
    task_id = await subject.begin("slow")
    await quiescence()
    answer = await subject.ask("tasks/cancel", taskId=task_id)
    assert answer["result"].keys() == {"resultType", "_meta"}
    assert (await subject.outcome(task_id))["status"] == "cancelled"
    subject.gate.set()
    await quiescence()
    assert subject.ended == ["slow"]
    assert (await subject.get(task_id))["status"] == "cancelled"


async def test_a_task_can_be_cancelled_before_its_handler_has_begun() -> None:
    subject = Subject()
    create = asyncio.create_task(subject.begin("slow"))
    task_id = await create
    await subject.ask("tasks/cancel", taskId=task_id)
    await quiescence()
    assert (await subject.get(task_id))["status"] == "cancelled"


async def test_a_handler_becomes_a_task_when_it_says_so() -> None:
    subject = Subject()
    client = DescribingClient(subject.server, capabilities=DECLARED)
    asked = (await subject.ask("tools/call", name="later", arguments={}))["result"]
    assert (asked["resultType"], "taskId" in asked) == ("input_required", False)
    retry = answering(asked, name={"action": "accept", "content": {"value": "Ada"}})
    created = (await subject.ask("tools/call", name="later", arguments={}, **retry))["result"]
    assert created["resultType"] == "task"
    assert not {"requestState", "inputRequests"} & created.keys()
    subject.gate.set()
    shown = await subject.outcome(created["taskId"])
    assert shown["result"]["content"][0]["text"] == "Ada, started: True"
    assert client.heard.empty()


async def test_a_handler_that_does_not_say_so_answers_at_once() -> None:
    subject = Subject()
    asked = (await subject.ask("tools/call", name="later", arguments={"start": False}))["result"]
    retry = answering(asked, name={"action": "accept", "content": {"value": "Ada"}})
    result = (await subject.ask("tools/call", name="later", arguments={"start": False}, **retry))["result"]
    assert result["content"][0]["text"] == "Ada, started: False"
    plain = (await subject.ask("tools/call", name="plain", arguments={}))["result"]
    assert plain["content"][0]["text"] == "started: False"
    assert len(subject.store) == 0


async def test_tasks_belong_to_their_principal() -> None:
    subject = Subject()
    task_id = await subject.begin("slow", principal="ada")
    assert (await subject.get(task_id, principal="ada"))["status"] == "working"
    for principal in ("bob", None):
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            answer = await subject.ask(method, principal=principal, taskId=task_id, inputResponses={})
            assert answer["error"]["code"] == -32602
    assert (await subject.get(task_id, principal="ada"))["status"] == "working"
    await subject.ask("tasks/cancel", principal="ada", taskId=task_id)


async def test_a_listen_stream_shows_the_tasks_it_names_as_get_does() -> None:
    subject = Subject()
    task_id, other = await subject.begin("confirm"), await subject.begin("slow")
    client = DescribingClient(subject.server, capabilities=DECLARED)
    requested = {"notifications": {"taskIds": [task_id, "unknown"]}}
    stream = asyncio.create_task(client.request("subscriptions/listen", requested))
    acknowledged = await client.next()
    assert acknowledged["params"]["notifications"] == {"taskIds": [task_id]}
    await subject.settled(task_id, "input_required")
    await subject.ask("tasks/update", taskId=task_id, inputResponses={"sure": ACCEPTED})
    await subject.settled(task_id, "completed")
    seen = [(await client.next())["params"] for _ in range(2)]
    assert [(each["taskId"], each["status"]) for each in seen] == [
        (task_id, "working"),
        (task_id, "completed"),
    ]
    last = await subject.get(task_id)
    assert {**last, "_meta": None, "resultType": None} == {**seen[-1], "_meta": None, "resultType": None}
    await subject.ask("tasks/cancel", taskId=other)
    subject.server.end_listening()
    await stream


async def test_listening_to_tasks_needs_the_extension() -> None:
    client = DescribingClient(Subject().server, capabilities={})
    error = await client.error("subscriptions/listen", {"notifications": {"taskIds": ["x"]}})
    assert error["code"] == -32021


async def test_neither_progress_nor_logs_of_a_task_are_sent() -> None:
    subject = Subject()

    @subject.server.tool(task="optional")
    async def talks(ctx: Context) -> str:
        await ctx.progress(1, message="one")
        await ctx.log("error", "two")
        await ctx.notify("own/three")
        return "said"

    client = DescribingClient(subject.server, capabilities=DECLARED)
    meta = {"progressToken": "p", "io.modelcontextprotocol/logLevel": "debug"}
    created = await client.request("tools/call", {"name": "talks", "arguments": {}}, meta=meta)
    await subject.settled(created["result"]["taskId"], "completed")
    assert client.heard.empty()


async def test_a_full_store_refuses_with_a_clear_error() -> None:
    subject = Subject(limits=Limits(tasks=2))
    await subject.begin("slow")
    await subject.begin("slow")
    error = (await subject.ask("tools/call", name="slow", arguments={}))["error"]
    assert error["code"] == Busy("").code
    assert error["message"] == "too many tasks: limit 2; try again later"


async def test_a_result_that_does_not_fit_fails_its_task() -> None:
    subject = Subject(limits=Limits(task_bytes=4096))
    shown = await subject.outcome(await subject.begin("large", size=5000))
    assert shown["status"] == "failed"
    assert "cannot be kept: tasks keep too many bytes" in shown["error"]["message"]


async def test_an_expired_task_is_unknown_its_handler_ends_and_its_memory_is_free() -> None:
    clock = Clock()
    subject = Subject(clock=clock)
    task_id = await subject.begin("slow")
    await quiescence()
    clock.now += 3600
    assert (await subject.ask("tasks/get", taskId=task_id))["error"]["code"] == -32602
    await subject.tasks.sweep()
    await quiescence()
    assert subject.ended == ["slow"]
    assert (len(subject.store), subject.store.kept_bytes) == (0, 0)


async def test_options_choose_how_long_a_task_is_kept_and_polled() -> None:
    subject = Subject()
    subject.server.tools.add(subject.must, name="brief", task=TaskOptions("optional", 30, 2))
    shown = await subject.get(await subject.begin("brief"))
    assert (shown["ttlMs"], shown["pollIntervalMs"]) == (30_000, 2000)


async def test_a_restart_fails_the_tasks_that_nobody_works_on() -> None:
    before = Subject()
    task_id = await before.begin("slow")
    server = Server("test", task_store=before.store)
    server.tools.add(before.slow, task="optional")
    after = Subject()
    after.server, after.store = server, before.store
    shown = await after.get(task_id)
    assert (shown["status"], shown["error"]["message"]) == (
        "failed",
        "the server stopped while the task was running",
    )


async def test_a_server_that_stops_fails_its_tasks_with_the_reason() -> None:
    subject = Subject(limits=Limits(drain=0.001))
    task_id = await subject.begin("slow")
    await quiescence()
    await subject.server.drain()
    shown = await subject.outcome(task_id)
    assert shown["status"] == "failed"
    assert "stop" in shown["error"]["message"]


async def test_middleware_runs_inside_the_task_and_sees_its_result() -> None:
    subject, seen = Subject(), []

    @subject.server.middleware("tools/call")
    async def note(call: Any, next: Any) -> Any:
        result = await next(call)
        seen.append(result.text)
        return result

    await subject.outcome(await subject.begin("large", size=2))
    assert seen == ["xx"]


async def test_the_current_context_is_that_of_the_task() -> None:
    subject = Subject()

    @subject.server.tool(task="optional")
    async def who() -> bool:
        return current_context() is not None

    shown = await subject.outcome(await subject.begin("who"))
    assert shown["result"]["content"][0]["text"] == "true"


async def test_an_unknown_mode_is_refused_where_it_is_written() -> None:
    with pytest.raises(ValueError, match="tool must: task must be optional, required or on_demand: 'always'"):
        Server("test").tools.add(Subject().must, task="always")
