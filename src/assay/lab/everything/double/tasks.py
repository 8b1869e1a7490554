"""A server with the tasks extension: tools that become tasks, and the methods for tasks."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness import FaultContext, Json
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.sabotage.saboteur import Double
from assay.lab.suite.extension_method import TASKS
from assay.lab.suite.subscription import ACKNOWLEDGED
from assay.model.error import INVALID_PARAMS, MISSING_CAPABILITY

from .server import DoubleRequest, ErrorReply, answering, check_headers, extended
from .task_tools import TOOLS, Job

ACK: Final = {"resultType": "complete"}


def _call(request: DoubleRequest) -> Json | None:
    tool = TOOLS.get(str(request.params.get("name")))
    if tool is None:
        return None
    check_headers(request, tool.name)
    work = tool.run(request.params)
    if isinstance(work, dict):
        return work
    if tool.waits or request.declares(TASKS):
        _check_declared(request)
        job = Job(work)
        _jobs(request.context)[job.id] = job
        return {"resultType": "task", **job.seed}
    ended: Json = work[-1]["result"]
    return ended


def _get(request: DoubleRequest) -> Json:
    return {**ACK, **_job(request).look()}


def _update(request: DoubleRequest) -> Json:
    _job(request).take(request.params.get("inputResponses") or {})
    return ACK


def _cancel(request: DoubleRequest) -> Json:
    _job(request).cancel()
    return ACK


def _listen(request: DoubleRequest) -> None:
    """The server opens the stream; `_reply` extends its acknowledgement."""
    ids = (request.params.get("notifications") or {}).get("taskIds")
    if isinstance(ids, list):
        _check_declared(request)
        _listeners(request.context)[repr(request.message["id"])] = ids


def _job(request: DoubleRequest) -> Job:
    name = request.params.get("taskId")
    _check_declared(request)
    check_headers(request, name)
    job = _jobs(request.context).get(str(name))
    if job is None:
        raise ErrorReply(INVALID_PARAMS, "unknown task", status=400)
    return job


def _check_declared(request: DoubleRequest) -> None:
    if not request.declares(TASKS):
        data: Json = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
        raise ErrorReply(MISSING_CAPABILITY, "only for clients that declare tasks", data, status=400)


def _jobs(context: FaultContext) -> dict[str, Job]:
    jobs: dict[str, Job] = context.memory.setdefault("jobs", {})
    return jobs


def _listeners(context: FaultContext) -> dict[str, list[str]]:
    listeners: dict[str, list[str]] = context.memory.setdefault("listeners", {})
    return listeners


def _reply(message: Json, context: FaultContext) -> Any:
    if message.get("method") == ACKNOWLEDGED:
        return _notifications(message, context)
    return extended(message, context, TASKS, {}, {"tools": [tool.definition for tool in TOOLS.values()]})


def _notifications(acknowledgement: Json, context: FaultContext) -> list[Json]:
    """The acknowledgement, and a notification for every remaining stage of its tasks."""
    params = acknowledgement["params"]
    ids = _listeners(context).pop(repr(params["_meta"][SUBSCRIPTION_KEY]), None)
    if ids is None:
        return [acknowledgement]
    jobs = [_jobs(context)[name] for name in ids if name in _jobs(context)]
    granted = {**params["notifications"], "taskIds": [job.id for job in jobs]}
    stages = [{"_meta": params["_meta"], **stage} for job in jobs for stage in _stages(job)]
    notices = [{"jsonrpc": "2.0", "method": "notifications/tasks", "params": stage} for stage in stages]
    return [{**acknowledgement, "params": {**params, "notifications": granted}}, *notices]


def _stages(job: Job) -> list[Json]:
    stages = [job.look()]
    while stages[-1]["status"] == "working":
        stages.append(job.look())
    return stages


DOUBLE: Final = Double(
    "tasks",
    request=answering(
        {
            "tools/call": _call,
            "tasks/get": _get,
            "tasks/update": _update,
            "tasks/cancel": _cancel,
            "subscriptions/listen": _listen,
        }
    ),
    reply=_reply,
)
