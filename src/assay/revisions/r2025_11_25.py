"""Invalid arguments become tool errors; elicitation by URL and multiple choice; sampling with tools; tasks,
as an experiment; streams that start with an event id, and that a server may close early so that the client
polls."""

from __future__ import annotations

from .r2025_06_18 import REVISION as PREDECESSOR
from .revision import BadArguments, HttpRules, TaskForm

REVISION = PREDECESSOR.successor(
    "2025-11-25",
    bad_arguments=BadArguments.TOOL_ERROR,
    multi_select=True,
    sampling_tools=True,
    tasks=TaskForm.CORE,
    http=HttpRules(version_header=True, priming=True),
    added={
        "elicitation": {"url"},
        "experimental": {"tasks/get", "tasks/result", "tasks/list", "tasks/cancel"},
    },
)
