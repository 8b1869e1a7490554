"""Tool calls that run as tasks, in both forms: polled, answered, cancelled, and resumed by their id."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator, Mapping
from typing import Any, Final, Protocol

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from assay.extensions.tasks import EXTENSION
from assay.model.client_error import ClientError, InvalidAnswer, ServerError, TaskCancelled
from assay.model.definition import ToolDefinition
from assay.model.result import ToolResult
from assay.model.task import Status, TaskState
from assay.model.visible import visible
from assay.protocol.declaration import PREFIX
from assay.protocol.task import TERMINAL
from assay.revisions.revision import TaskForm

from .callback import Callback
from .input_required import Question
from .listing import decode_result

SHORTEST_PAUSE: Final = 0.02
LONGEST_PAUSE: Final = 60.0
"""Seconds between two polls, whatever the server suggests."""
USUAL_PAUSE: Final = 1.0
LONGEST_ID: Final = 1024
DECLARED: Final[Mapping[str, Any]] = {
    "_meta": {f"{PREFIX}clientCapabilities": {"extensions": {EXTENSION.name: {}}}}
}
"""Parameters of a request that declares tasks, whatever else the client declares."""


class TaskChannel(Protocol):
    """What a task uses of its client."""

    @property
    def task_form(self) -> TaskForm: ...

    @property
    def revision(self) -> str: ...

    @property
    def capabilities(self) -> dict[str, Any]: ...

    async def tools(self) -> list[ToolDefinition]: ...

    async def _request(
        self,
        method: str,
        params: dict[str, Any] | None,
        timeout: float | None = ...,
        progress: Callback | None = None,
        idempotent: bool | None = None,
    ) -> Raw: ...

    async def _answers(self, questions: Mapping[str, Question]) -> dict[str, Any]: ...

    def _tool_result(self, name: str, raw: Raw, check: bool) -> ToolResult: ...


class _Fields(Struct, rename="camel"):
    task_id: str
    status: Status
    status_message: str | None = None
    created_at: str = ""
    last_updated_at: str = ""
    ttl: int | float | None = None
    ttl_ms: int | float | None = None
    poll_interval: int | float | None = None
    poll_interval_ms: int | float | None = None
    input_requests: dict[str, Question] = {}
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class _Created(Struct):
    task: _Fields


class _Type(Struct, rename="camel"):
    result_type: str = "complete"


class _Error(Struct):
    code: int
    message: str
    data: Any = None


class RunningTask:
    """A tool call that runs as a task, from `Client.call_task` and `Client.task`.

        task = await client.call_task("report", {"year": 2025})
        async for state in task:
            print(state.status, state.message)
        result = await task

    The iterator yields each change that a poll shows, and ends with the task. Both poll the server, and
    answer its questions with the handlers of the client. Leaving them does not end the task:
    `client.task(id)` continues, also in another process.
    """

    def __init__(
        self,
        channel: TaskChannel,
        tool: str,
        fields: _Fields | None = None,
        *,
        task_id: str = "",
        check: bool,
    ) -> None:
        self.id = fields.task_id if fields is not None else task_id
        """Its id; empty if the server answered at once, without a task."""
        if len(self.id) > LONGEST_ID:
            raise InvalidAnswer(f"the id of a task has {len(self.id)} characters: limit {LONGEST_ID}")
        self.tool = tool
        self.state: TaskState | None = None if fields is None else _state(fields)
        """As the last poll showed it."""
        self._channel = channel
        self._form = channel.task_form
        self._fields = fields
        self._check = check
        self._answered: set[str] = set()
        """Keys of questions that have been answered: they may be shown again for a moment."""
        self._raw: Raw | None = None
        self._turn = asyncio.Lock()

    @property
    def is_done(self) -> bool:
        return self._raw is not None or (self._fields is not None and self._fields.status in TERMINAL)

    def __await__(self) -> Generator[Any, None, ToolResult]:
        """The result of the call.

        Raises:
            ToolFailed: the tool reported a failure; also a `ToolError`.
            TaskCancelled: it was cancelled.
            ServerError: it failed with a JSON-RPC error, or has expired.
            ClientError: no answer.
        """
        return self._outcome().__await__()

    async def _outcome(self) -> ToolResult:
        async for _ in self:
            pass
        if self._raw is None:
            self._raw = await self._final()
        return self._channel._tool_result(self.tool, self._raw, self._check)

    async def __aiter__(self) -> AsyncIterator[TaskState]:
        while self._raw is None:
            before = self.state
            if before is None:
                yield await self.poll()
                continue
            if self.is_done:
                return
            async with self._turn:
                await self._answer()
            if self._raw is None:
                await asyncio.sleep(_pause(self.state))
            if await self.poll() != before and self.state is not None:
                yield self.state

    async def poll(self) -> TaskState:
        """Ask for the state of the task.

        Raises:
            ServerError: the task is unknown, or has expired.
            ClientError: no answer.
        """
        if not self.id:
            raise ClientError("the call has ended without a task: await its result")
        fields = decode_result(await self._send("tasks/get"), _Fields, "tasks/get")
        if fields.task_id != self.id:
            raise InvalidAnswer(f"the server answered tasks/get with another task: {visible(fields.task_id)}")
        self._fields, self.state = fields, _state(fields)
        return self.state

    async def cancel(self) -> None:
        """Ask the server to cancel the task. That a task has already ended is no error."""
        if self.id and not self.is_done:
            try:
                await self._send("tasks/cancel")
            except ServerError:
                if not (await self.poll()).is_done:
                    raise

    async def _send(self, method: str, *, unlimited: bool = False, **more: Any) -> Raw:
        params: dict[str, Any] = {"taskId": self.id, **more}
        if self._form is TaskForm.EXTENSION:
            params |= DECLARED
        limit: dict[str, Any] = {"timeout": None} if unlimited else {}
        return await self._channel._request(method, params, idempotent=method != "tasks/update", **limit)

    async def _answer(self) -> None:
        """Answer open questions: by a request, or where they are requests, by waiting for the result."""
        fields = self._fields
        if fields is None or fields.status is not Status.INPUT_REQUIRED:
            return
        if self._form is TaskForm.CORE:
            self._raw = await self._core_result()
            return
        fresh = {key: each for key, each in fields.input_requests.items() if key not in self._answered}
        if fresh:
            responses = await self._channel._answers(fresh)
            await self._send("tasks/update", inputResponses=responses)
            self._answered |= responses.keys()

    async def _final(self) -> Raw:
        """The outcome of a task that has ended."""
        fields = self._fields
        if fields is not None and fields.status is Status.CANCELLED:
            raise TaskCancelled(self.id, fields.status_message)
        if self._form is TaskForm.CORE or fields is None:
            return await self._core_result()
        if fields.status is Status.FAILED:
            raw = Raw(b"{}") if isinstance(fields.error, UnsetType) else fields.error
            error = decode_result(raw, _Error, "tasks/get")
            raise ServerError(error.code, error.message, error.data)
        if isinstance(fields.result, UnsetType):
            raise InvalidAnswer("the server answered tasks/get with a completed task that has no result")
        return fields.result

    async def _core_result(self) -> Raw:
        try:
            # No time limit: it is answered when the task has ended.
            return await self._send("tasks/result", unlimited=True)
        except ServerError:
            if (await self.poll()).status == Status.CANCELLED.value:
                raise TaskCancelled(self.id, None if self.state is None else self.state.message) from None
            raise


async def begin_task(
    channel: TaskChannel, params: dict[str, Any], *, ttl: float | None, timeout: float | None, check: bool
) -> RunningTask:
    """Call a tool as a task.

    Raises:
        ClientError: the server has no tasks, no answer, or an error.
    """
    form, name = channel.task_form, str(params["name"])
    if form is TaskForm.ABSENT:
        raise ClientError(
            f"the protocol revision in use ({channel.revision}) has no tasks: use call_tool;"
            " of several servers: client.servers[name].call_task"
        )
    if form is TaskForm.CORE:
        await _check_support(channel, name)
        params = {**params, "task": {} if ttl is None else {"ttl": int(ttl * 1000)}}
    else:
        params = {**params, "_meta": {**params.get("_meta", {}), **DECLARED["_meta"]}}
    raw = await channel._request("tools/call", params, timeout)
    task = created_task(channel, name, raw, check=check)
    if task is None:
        task = RunningTask(channel, name, check=check)
        task._raw = raw
    return task


async def _check_support(channel: TaskChannel, name: str) -> None:
    """Clients must not ask for tasks that were not offered (basic/utilities/tasks)."""
    offered = channel.capabilities.get("tasks")
    requests = offered.get("requests") if isinstance(offered, dict) else None
    tools = requests.get("tools") if isinstance(requests, dict) else None
    if not isinstance(tools, dict) or "call" not in tools:
        raise ClientError("the server does not run tools as tasks: use call_tool")
    for tool in await channel.tools():
        support = (tool.execution or {}).get("taskSupport")
        if tool.name == name and support not in ("optional", "required"):
            raise ClientError(f"tool {visible(name)} does not run as a task: use call_tool")


def created_task(channel: TaskChannel, tool: str, raw: Raw, *, check: bool) -> RunningTask | None:
    """The task in the answer to a tool call; None if it is a result.

    Raises:
        InvalidAnswer: a task that cannot be read.
    """
    form = channel.task_form
    if form is TaskForm.CORE and _has(raw, "task"):
        return RunningTask(channel, tool, decode_result(raw, _Created, "tools/call").task, check=check)
    if form is TaskForm.EXTENSION and decode_result(raw, _Type, "tools/call").result_type == "task":
        return RunningTask(channel, tool, decode_result(raw, _Fields, "tools/call"), check=check)
    return None


def _has(raw: Raw, key: str) -> bool:
    value = msgspec.json.decode(raw)
    return isinstance(value, dict) and key in value


def _state(fields: _Fields) -> TaskState:
    is_core = fields.ttl_ms is None and fields.poll_interval_ms is None
    ttl, interval = (
        (fields.ttl, fields.poll_interval) if is_core else (fields.ttl_ms, fields.poll_interval_ms)
    )
    return TaskState(
        fields.task_id,
        fields.status.value,
        fields.status_message,
        fields.created_at,
        fields.last_updated_at,
        None if ttl is None else ttl / 1000,
        None if interval is None else interval / 1000,
    )


def _pause(state: TaskState | None) -> float:
    interval = None if state is None else state.poll_interval
    return USUAL_PAUSE if interval is None else min(max(interval, SHORTEST_PAUSE), LONGEST_PAUSE)
