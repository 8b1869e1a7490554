"""An answer is acknowledged and forgotten."""

from __future__ import annotations

from assay.lab.everything.double.tasks import DOUBLE
from assay.lab.harness.saboteur import Json, Turn, on_request


@on_request(
    "a task does not go on with its input",
    breaks="tasks-mrtr-tasks-update-resumes",
    silent=True,
    double=DOUBLE,
)
def change(message: Json, turn: Turn) -> Json:
    if message.get("method") == "tasks/update":
        message["params"]["inputResponses"] = {}
    return message
