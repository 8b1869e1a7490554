"""The methods of tasks, in both forms, and the calls that become tasks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from assay.extensions.extension import NOTHING
from assay.extensions.tasks import EXTENSION, TASK_IDS
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from assay.model.jsonrpc import CallParams
from assay.model.task import Status, TaskRecord
from assay.protocol.codec import decode_params
from assay.protocol.cursor import UnknownCursor, decode_cursor, encode_cursor
from assay.protocol.middleware import Serve
from assay.protocol.task import RULES, answered, moved, related, shown
from assay.revisions.revision import Revision, TaskForm
from assay.server.calls.call import Call
from assay.server.components.registry import PagedRegistry
from assay.server.components.tool import Tool
from assay.server.extensions.handlers import ExtensionHandlers
from assay.server.results.typed_result import OtherResult

from .service import Tasks, Wish

PAGE: Final = 100
"""Tasks on one page of a list."""
ONE_CALLER: Final = frozenset({"stdio", "memory"})
"""Transports with one caller, who need not be authenticated to be known."""


class _TaskParams(Struct, rename="camel"):
    task_id: str


class _UpdateParams(_TaskParams, rename="camel"):
    input_responses: dict[str, Raw] = {}


class _ListParams(Struct):
    cursor: str | None = None


class _Requested(Struct):
    ttl: int | float | None = None


class _AskedParams(Struct):
    task: _Requested | UnsetType = UNSET


_call_params: Final = msgspec.json.Decoder(CallParams).decode
_task_params: Final = msgspec.json.Decoder(_TaskParams).decode
_update_params: Final = msgspec.json.Decoder(_UpdateParams).decode
_list_params: Final = msgspec.json.Decoder(_ListParams).decode
_asked_params: Final = msgspec.json.Decoder(_AskedParams).decode


class TaskMethods(ExtensionHandlers):
    """Serves tasks in the tables of all revisions that have them."""

    def __init__(
        self, tasks: Tasks, tools: PagedRegistry[Tool], method_scopes: Mapping[str, Sequence[str]]
    ) -> None:
        super().__init__(EXTENSION)
        self.topics = {TASK_IDS: self}
        self._tasks = tasks
        self._tools = tools
        self._method_scopes = method_scopes
        self._by_form: Mapping[TaskForm, Mapping[str, Serve]] = {
            TaskForm.ABSENT: NOTHING,
            TaskForm.CORE: {
                "tasks/get": self._get,
                "tasks/result": self._result,
                "tasks/list": self._list,
                "tasks/cancel": self._cancel,
            },
            TaskForm.EXTENSION: {
                "tasks/get": self._get_detailed,
                "tasks/update": self._update,
                "tasks/cancel": self._acknowledge_cancel,
            },
        }
        self._wishes: Mapping[TaskForm, Callable[[Call, str, Tool | None], Wish | None]] = {
            TaskForm.ABSENT: _never,
            TaskForm.CORE: _if_asked,
            TaskForm.EXTENSION: _if_declared,
        }

    def capabilities(self, revision: Revision, call: Call) -> Mapping[str, Any]:
        if revision.tasks is not TaskForm.CORE:
            return NOTHING
        listed: dict[str, Any] = {"list": {}} if _is_known(call) else {}
        return {"tasks": {**listed, "cancel": {}, "requests": {"tools": {"call": {}}}}}

    def methods(self, revision: Revision) -> Mapping[str, Serve]:
        return self._by_form[revision.tasks]

    def wrap(self, method: str, serve: Serve, revision: Revision) -> Serve:
        if method != "tools/call":
            return serve
        wish_of, by_name = self._wishes[revision.tasks], self._tools.by_key

        def serve_call(call: Call) -> Awaitable[Any]:
            decoded = call.decoded_params
            params = decoded if type(decoded) is CallParams else decode_params(call.params, _call_params)
            tool = by_name.get(params.name)
            if tool is None or (tool.task is None and wish_of is not _if_asked):
                return serve(call)
            wish = wish_of(call, params.name, tool)
            if wish is None:
                return serve(call)
            # What a plain call is refused for, a task is refused for before it is created.
            call.require((*self._method_scopes.get(method, ()), *tool.scopes))
            tool.check_mirrors(params.arguments, call)
            return self._begin(wish, call, serve)

        return serve_call

    async def _begin(self, wish: Wish, call: Call, serve: Serve) -> Any:
        outcome = await self._tasks.begin(wish, call, serve)
        if not isinstance(outcome, dict) or "taskId" not in outcome:
            return outcome
        return {"task": outcome} if wish.form is TaskForm.CORE else OtherResult("task", outcome)

    async def _find(self, call: Call, task_id: str) -> TaskRecord:
        record = await self._tasks.find(call, task_id)
        tool = self._tools.get(record.tool)
        if tool is not None:
            call.require(tool.scopes)
        return record

    async def accept(self, keys: list[str], call: Call) -> list[str]:
        """The tasks that a listen stream may follow."""
        EXTENSION.require(call.peer.capabilities, call.peer.revision)
        accepted = []
        for key in keys:
            try:
                accepted.append((await self._find(call, key)).id)
            except RpcError:
                continue
        return accepted

    # The form of the core.

    async def _get(self, call: Call) -> dict[str, Any]:
        params = decode_params(call.params, _task_params)
        return shown(await self._find(call, params.task_id), TaskForm.CORE)

    async def _result(self, call: Call) -> Any:
        record = await self._find(call, decode_params(call.params, _task_params).task_id)
        record = await self._tasks.wait(call, record)
        if record.result is not None:
            return related(record.id, msgspec.json.decode(record.result))
        if record.error is not None:
            data = None if record.error.data is UNSET else record.error.data
            raise RpcError(record.error.code, record.error.message, data)
        raise RpcError(RULES[TaskForm.CORE].no_result, f"task {record.id} was cancelled: it has no result")

    async def _list(self, call: Call) -> dict[str, Any]:
        if not _is_known(call):
            raise RpcError(METHOD_NOT_FOUND, "tasks are listed for authenticated callers only")
        cursor = decode_params(call.params, _list_params).cursor
        try:
            after = 0 if cursor is None else decode_cursor("tasks", cursor, newest=await self._tasks.newest())
        except UnknownCursor as error:
            raise RpcError(INVALID_PARAMS, str(error)) from None
        records = await self._tasks.page(call, after, PAGE + 1)
        result: dict[str, Any] = {"tasks": [shown(record, TaskForm.CORE) for record in records[:PAGE]]}
        return (
            result | {"nextCursor": encode_cursor("tasks", records[PAGE - 1].serial)}
            if len(records) > PAGE
            else result
        )

    async def _cancel(self, call: Call) -> dict[str, Any]:
        return shown(await self._cancelled(call), TaskForm.CORE)

    # The form of the extension.

    async def _get_detailed(self, call: Call) -> dict[str, Any]:
        params = decode_params(call.params, _task_params)
        return self._tasks.show(await self._find(call, params.task_id))

    async def _update(self, call: Call) -> dict[str, Any]:
        params: _UpdateParams = decode_params(call.params, _update_params)
        record = await self._find(call, params.task_id)
        await self._tasks.change(record.id, lambda each, now: answered(each, params.input_responses, now))
        return {}

    async def _acknowledge_cancel(self, call: Call) -> dict[str, Any]:
        await self._cancelled(call)
        return {}

    async def _cancelled(self, call: Call) -> TaskRecord:
        record = await self._find(call, decode_params(call.params, _task_params).task_id)
        changed = await self._tasks.change(
            record.id, lambda each, now: moved(each, Status.CANCELLED, now, message="cancelled by the client")
        )
        code = RULES[call.peer.revision.tasks].cancel_finished
        if changed is None and code is not None:
            raise RpcError(code, f"task {record.id} has ended: {record.status.value}")
        return changed or record


def _never(call: Call, name: str, tool: Tool | None) -> Wish | None:
    if tool is not None and tool.task is not None and tool.task.mode == "required":
        raise RpcError(
            METHOD_NOT_FOUND, f"tool {name} runs as a task only: use a protocol revision with tasks"
        )
    return None


def _if_asked(call: Call, name: str, tool: Tool | None) -> Wish | None:
    rules, requested = RULES[TaskForm.CORE], decode_params(call.params, _asked_params).task
    options = None if tool is None else tool.task
    if requested is UNSET:
        if options is not None and options.mode == "required":
            raise RpcError(rules.task_needed, f"tool {name} runs as a task only: add task to the parameters")
        return None
    if options is None:
        raise RpcError(rules.task_refused or INVALID_PARAMS, f"tool {name} does not run as a task")
    return Wish(name, options, TaskForm.CORE, _read_ttl(requested.ttl))


def _read_ttl(ttl: int | float | None) -> int | None:
    if ttl is not None and ttl < 0:
        raise RpcError(INVALID_PARAMS, f"the ttl of a task must not be negative: {ttl}")
    return None if ttl is None else int(ttl)


def _if_declared(call: Call, name: str, tool: Tool | None) -> Wish | None:
    if tool is None or tool.task is None:
        return None
    if EXTENSION.declared_by(call.peer.capabilities) is not None:
        return Wish(name, tool.task, TaskForm.EXTENSION)
    if tool.task.mode == "required":
        raise EXTENSION.refusal(call.peer.revision)
    return None


def _is_known(call: Call) -> bool:
    """Whether a list of tasks shows only those of its caller."""
    return call.scope.principal is not None or call.scope.transport in ONE_CALLER
