"""Each request is answered by what it declares itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.everything.answered import answered
from assay.lab.everything.declaring import official_check
from assay.lab.everything.extension import TASKS, declares_tasks
from assay.lab.everything.faults import judged, result_faults
from assay.lab.everything.task_opening import judge_opening
from assay.lab.everything.task_shape import creation_faults, sync_faults
from assay.lab.everything.task_story import calls, stories
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import MISSING_CAPABILITY

OPENING = "tasks-capability-bootstrap"
ADVERTISED = "tasks-extension-advertised"
METHODS = "sep-2663-tasks-methods-non-declaring"
SYNC = "sep-2663-server-rejects-undeclared-client"
OPTED_IN = "tasks-per-request-meta-opt-in"


@official_check(
    "tasks-capability-negotiation",
    "Tasks are for requests that declare the extension",
    rows=(OPENING, ADVERTISED, METHODS, SYNC, OPTED_IN),
)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_opening(OPENING, trace)
    for exchange in answered(trace, "server/discover"):
        if exchange.result is not None:
            expected = f"`{TASKS}` among the extensions, and no `capabilities.tasks`"
            yield judged(ADVERTISED, _advertising_faults(exchange.result), exchange, expected=expected)
    for exchange in calls(trace, "slow_compute", declared=False):
        yield judged(
            SYNC, result_faults(exchange, sync_faults), exchange, expected="the result at once, and no task"
        )
    for exchange in calls(trace, "slow_compute"):
        faults = result_faults(exchange, creation_faults)
        yield judged(OPTED_IN, faults, exchange, expected="a task, since the request declares the extension")
    yield from _judge_methods(trace)


def _advertising_faults(result: dict[str, Any]) -> Iterator[str]:
    capabilities = result.get("capabilities")
    if not isinstance(capabilities, dict):
        yield f"capabilities {capabilities!r}"
        return
    extensions = capabilities.get("extensions")
    if not (isinstance(extensions, dict) and isinstance(extensions.get(TASKS), dict)):
        yield f"the extensions {extensions!r}"
    if "tasks" in capabilities:
        yield "`capabilities.tasks`, the place of an earlier revision"


def _judge_methods(trace: Trace) -> Iterator[Observation]:
    """Only where a client that declares the extension was shown the task: then nothing else can be wrong."""
    for story in stories(trace, "slow_compute"):
        if not story.gets or story.gets[0].result is None:
            continue
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            for exchange in answered(trace, method, taskId=story.gets[0].params["taskId"]):
                if not declares_tasks(exchange.params):
                    holds = exchange.code == MISSING_CAPABILITY
                    expected = f"error {MISSING_CAPABILITY}: the client does not declare the extension"
                    yield observe(METHODS, holds, exchange, expected=expected, observed=exchange)
