"""Bad input to tasks, over HTTP and stdio: each row is refused or ignored as it says, and harms nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from assay.revisions.registry import HANDSHAKE
from tests.driving.asgi import AsgiPeer
from tests.driving.describing import describe, mirrors
from tests.driving.links import PipeLink
from tests.driving.messages import initialize, notification, request
from tests.server.scripted import GUARD, quiescence
from tests.server.tasks.subject import DECLARED, Clock, Subject

CORE = HANDSHAKE[-1]
GUESSED = "0123456789abcdef" * 3
Ask = Callable[[dict[str, Any]], Any]


class HttpWire:
    def __init__(self, subject: Subject) -> None:
        self._peer = AsgiPeer(subject.server.asgi())

    async def open(self) -> None:
        await self._peer.shake_hands(CORE)

    async def ask(self, message: dict[str, Any]) -> Any:
        headers: dict[str, str | None] = {}
        if "_meta" in message["params"]:
            task_id = message["params"].get("taskId")
            name = task_id if isinstance(task_id, str) else message["params"].get("name")
            headers = {**mirrors(message), "mcp-name": name, "mcp-session-id": None}
        return (await self._peer.post(message, headers=headers)).json

    async def close(self) -> None:
        await self._peer.__aexit__(None, None, None)


class StdioWire:
    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._answers: asyncio.Queue[Any] = asyncio.Queue()

    def _take(self, message: Any) -> None:
        if "method" not in message:
            self._answers.put_nowait(message)

    async def open(self) -> None:
        self._link = await PipeLink.open(self._subject.server, self._take)
        await self.ask(initialize(CORE, {}))
        await self._link.send(notification("notifications/initialized"))

    async def ask(self, message: dict[str, Any]) -> Any:
        await self._link.send(message)
        async with asyncio.timeout(GUARD):
            return await self._answers.get()

    async def close(self) -> None:
        await self._link.close()


WIRES = {"http": HttpWire, "stdio": StdioWire}
over_each_wire = pytest.mark.parametrize("make_wire", WIRES.values(), ids=WIRES.keys())


@asynccontextmanager
async def opened(make_wire: Any, subject: Subject) -> AsyncIterator[Ask]:
    wire = make_wire(subject)
    await wire.open()
    try:
        yield wire.ask
    finally:
        subject.gate.set()  # a server that stops would wait for what still runs
        await quiescence()
        await wire.close()


def extension(method: str, **params: Any) -> dict[str, Any]:
    return describe(method, params, capabilities=DECLARED)


def core(method: str, **params: Any) -> dict[str, Any]:
    return request(method, params, 7)


async def begin(ask: Ask, message: Callable[..., dict[str, Any]], tool: str) -> str:
    task = {"task": {}} if message is core else {}
    result = (await ask(message("tools/call", name=tool, arguments={}, **task)))["result"]
    task_id: str = result.get("task", result)["taskId"]
    return task_id


METHODS = [
    (extension, "tasks/get"),
    (extension, "tasks/update"),
    (extension, "tasks/cancel"),
    (core, "tasks/get"),
    (core, "tasks/result"),
    (core, "tasks/cancel"),
]
each_method = pytest.mark.parametrize(
    ("message", "method"), METHODS, ids=[f"{m.__name__} {n}" for m, n in METHODS]
)


@over_each_wire
@each_method
async def test_tasks_that_a_caller_does_not_have_are_unknown(
    make_wire: Any, message: Callable[..., dict[str, Any]], method: str
) -> None:
    clock = Clock()
    subject = Subject(clock=clock)
    async with opened(make_wire, subject) as ask:
        own, foreign = await begin(ask, message, "slow"), await subject.begin("slow", principal="ada")
        other_form = await begin(ask, core if message is extension else extension, "must")
        for task_id in ("unknown", "", GUESSED, foreign, other_form, own[:-1], own.upper(), "x" * 9000):
            assert (await ask(message(method, taskId=task_id)))["error"]["code"] == -32602, task_id[:60]
        for task_id in (foreign, own):
            await subject.settled(task_id, "working")
        clock.now += 3600
        assert (await ask(message(method, taskId=own)))["error"]["code"] == -32602


@over_each_wire
@each_method
async def test_parameters_of_another_type_are_refused(
    make_wire: Any, message: Callable[..., dict[str, Any]], method: str
) -> None:
    async with opened(make_wire, Subject()) as ask:
        for task_id in (None, 5, True, ["x"], {"id": "x"}):
            assert (await ask(message(method, taskId=task_id)))["error"]["code"] == -32602, task_id
        assert (await ask(message(method)))["error"]["code"] == -32602


@over_each_wire
async def test_answers_that_fit_no_question_are_ignored_or_refused(make_wire: Any) -> None:
    subject = Subject()
    async with opened(make_wire, subject) as ask:
        task_id = await begin(ask, extension, "confirm")
        await subject.settled(task_id, "input_required")
        for responses in ({"never": {}}, {}, {"question-1": None}, {"": {"action": "accept"}}):
            answer = await ask(extension("tasks/update", taskId=task_id, inputResponses=responses))
            assert answer["result"]["resultType"] == "complete"
        for responses in ([], 5, "sure", None):
            answer = await ask(extension("tasks/update", taskId=task_id, inputResponses=responses))
            assert answer["error"]["code"] == -32602
        assert list((await subject.get(task_id))["inputRequests"]) == ["sure"]
        await ask(extension("tasks/cancel", taskId=task_id))


@over_each_wire
@pytest.mark.parametrize(("message", "code"), [(extension, None), (core, -32602)], ids=["extension", "core"])
async def test_a_finished_task_does_not_change_any_more(
    make_wire: Any, message: Callable[..., dict[str, Any]], code: int | None
) -> None:
    subject = Subject()
    async with opened(make_wire, subject) as ask:
        task_id = await begin(ask, message, "must")
        before = await subject.settled(task_id, "completed")
        answer = await ask(message("tasks/cancel", taskId=task_id))
        assert answer.get("error", {}).get("code") == code
        if message is extension:
            update = extension("tasks/update", taskId=task_id, inputResponses={"sure": {"action": "accept"}})
            assert (await ask(update))["result"]["resultType"] == "complete"
        assert await subject.store.load(task_id) == before


@over_each_wire
@pytest.mark.parametrize(
    ("message", "codes"), [(extension, {None}), (core, {None, -32602})], ids=["extension", "core"]
)
async def test_cancellations_at_the_same_time_as_the_end_leave_one_final_state(
    make_wire: Any, message: Callable[..., dict[str, Any]], codes: set[int | None]
) -> None:
    subject = Subject()
    async with opened(make_wire, subject) as ask:
        task_id = await begin(ask, message, "slow")
        await quiescence()
        subject.gate.set()
        answers = [await ask(message("tasks/cancel", taskId=task_id)) for _ in range(3)]
        assert {answer.get("error", {}).get("code") for answer in answers} <= codes
        record = await subject.settled(task_id, "completed", "cancelled")
        await quiescence()
        assert await subject.store.load(task_id) == record


@over_each_wire
@pytest.mark.parametrize(
    ("task", "ttl"),
    [
        ({}, 3_600_000),
        ({"ttl": None}, 3_600_000),
        ({"ttl": 0}, 1000),
        ({"ttl": 1.5}, 1000),
        ({"ttl": 60_000}, 60_000),
        ({"ttl": 10**12}, 3_600_000),
        ({"ttl": 1e300}, 3_600_000),
        ({"ttl": -1}, None),
        ({"ttl": "soon"}, None),
        ({"ttl": True}, None),
        (5, None),
        (None, None),
    ],
    ids=str,
)
async def test_a_time_to_live_is_kept_within_limits_or_refused(
    make_wire: Any, task: Any, ttl: int | None
) -> None:
    async with opened(make_wire, Subject()) as ask:
        answer = await ask(core("tools/call", name="must", arguments={}, task=task))
        if ttl is None:
            assert answer["error"]["code"] == -32602
        else:
            assert answer["result"]["task"]["ttl"] == ttl
