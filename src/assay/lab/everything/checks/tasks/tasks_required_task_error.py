"""The refusal names what the client lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.everything.declaring import official_check
from assay.lab.everything.extension import TASKS
from assay.lab.everything.task_opening import judge_opening
from assay.lab.everything.task_story import calls
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import MISSING_CAPABILITY

OPENING = "tasks-required-error-bootstrap"
REFUSED = "sep-2663-server-returns-missing-capability-when-required"
NAMED = "sep-2663-server-returns-missing-capability-data-shape"


@official_check("tasks-required-task-error", "What the client lacks is named", rows=(OPENING, REFUSED, NAMED))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_opening(OPENING, trace)
    tasks = []
    for exchange in calls(trace, "failing_job"):
        if (exchange.result or {}).get("resultType") == "task":
            tasks.append(exchange)
        else:
            expected = "a task, since the client declares the extension"
            yield observe(REFUSED, False, exchange, expected=expected, observed=exchange)
    for exchange in calls(trace, "failing_job", declared=False) if tasks else ():
        refused = exchange.code == MISSING_CAPABILITY
        expected = f"error {MISSING_CAPABILITY}: the client does not declare the extension"
        yield observe(REFUSED, refused, tasks[0], exchange, expected=expected, observed=exchange)
        data = exchange.answer.error.get("data") if exchange.answer is not None else None
        if refused and data is not None:
            expected = f"`data.requiredCapabilities.extensions` with {TASKS}"
            yield observe(NAMED, _names_tasks(data), exchange, expected=expected, observed=f"data {data!r}")


def _names_tasks(data: Any) -> bool:
    for key in ("requiredCapabilities", "extensions"):
        data = data.get(key) if isinstance(data, dict) else None
    return isinstance(data, dict) and TASKS in data
