"""The extensions that official scenarios know, by their identifiers."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness.message_meta import CAPABILITIES_KEY
from assay.lab.harness.need import Need, declares

TASKS: Final = "io.modelcontextprotocol/tasks"
SKILLS: Final = "io.modelcontextprotocol/skills"
HAS_TASKS: Final[Need] = declares("extensions", TASKS)
HAS_SKILLS: Final[Need] = declares("extensions", SKILLS)
UNDECLARED: Final[dict[str, Any]] = {CAPABILITIES_KEY: {}}
"""The `_meta` of a request whose client knows no extension."""


def declares_tasks(params: dict[str, Any]) -> bool:
    """Whether a request says that its client knows tasks."""
    at: Any = params
    for key in ("_meta", CAPABILITIES_KEY, "extensions"):
        at = at.get(key) if isinstance(at, dict) else None
    return isinstance(at, dict) and TASKS in at
