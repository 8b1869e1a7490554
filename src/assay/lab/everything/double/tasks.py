"""A server with the tasks extension: tools that become tasks, and the methods that tasks are watched by."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.everything.fixture import TASKS
from assay.lab.harness import FaultContext, Json
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.sabotage.saboteur import Double
from assay.lab.suite.subscription import ACKNOWLEDGED
from assay.model.error import INVALID_PARAMS, MISSING_CAPABILITY

from .server import Asked, Refused, answering, check_headers, extended
from .task_tools import TOOLS, Job

ACK: Final = {"resultType": "complete"}


def _call(asked: Asked) -> Json | None:
    tool = TOOLS.get(str(asked.params.get("name")))
    if tool is None:
        return None
    check_headers(asked, tool.name)
    made = tool.run(asked.params)
    if isinstance(made, dict):
        return made
    if tool.waits or asked.declares(TASKS):
        _check_declared(asked)
        job = Job(made)
        _jobs(asked.context)[job.id] = job
        return {"resultType": "task", **job.seed}
    ended: Json = made[-1]["result"]
    return ended


def _get(asked: Asked) -> Json:
    return {**ACK, **_job(asked).look()}


def _update(asked: Asked) -> Json:
    _job(asked).take(asked.params.get("inputResponses") or {})
    return ACK


def _cancel(asked: Asked) -> Json:
    _job(asked).cancel()
    return ACK


def _listen(asked: Asked) -> None:
    """The server opens the stream; what it then acknowledges is added to in `_reply`."""
    ids = (asked.params.get("notifications") or {}).get("taskIds")
    if isinstance(ids, list):
        _check_declared(asked)
        _listeners(asked.context)[repr(asked.message["id"])] = ids


def _job(asked: Asked) -> Job:
    name = asked.params.get("taskId")
    _check_declared(asked)
    check_headers(asked, name)
    job = _jobs(asked.context).get(str(name))
    if job is None:
        raise Refused(INVALID_PARAMS, "there is no such task", status=400)
    return job


def _check_declared(asked: Asked) -> None:
    if not asked.declares(TASKS):
        wanted: Json = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
        raise Refused(MISSING_CAPABILITY, "only for clients that know tasks", wanted, status=400)


def _jobs(context: FaultContext) -> dict[str, Job]:
    jobs: dict[str, Job] = context.memory.setdefault("jobs", {})
    return jobs


def _listeners(context: FaultContext) -> dict[str, list[str]]:
    listeners: dict[str, list[str]] = context.memory.setdefault("listeners", {})
    return listeners


def _reply(message: Json, context: FaultContext) -> Any:
    if message.get("method") == ACKNOWLEDGED:
        return _told(message, context)
    return extended(message, context, TASKS, {}, {"tools": [tool.definition for tool in TOOLS.values()]})


def _told(acknowledged: Json, context: FaultContext) -> list[Json]:
    """The acknowledgement, and every stage that the tasks in it still go through."""
    meta = acknowledged["params"]["_meta"]
    wanted = _listeners(context).pop(repr(meta[SUBSCRIPTION_KEY]), None)
    if wanted is None:
        return [acknowledged]
    jobs = [_jobs(context)[name] for name in wanted if name in _jobs(context)]
    granted = {**acknowledged["params"]["notifications"], "taskIds": [job.id for job in jobs]}
    params = {**acknowledged["params"], "notifications": granted}
    stages = [{"_meta": meta, **stage} for job in jobs for stage in _stages(job)]
    told = [{"jsonrpc": "2.0", "method": "notifications/tasks", "params": stage} for stage in stages]
    return [{**acknowledged, "params": params}, *told]


def _stages(job: Job) -> list[Json]:
    """What is told of a job whose work goes on while somebody listens."""
    seen = [job.look()]
    while seen[-1]["status"] == "working":
        seen.append(job.look())
    return seen


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
