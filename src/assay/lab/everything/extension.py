"""The extensions that official scenarios know, by their identifiers."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.need import Need, declares
from assay.lab.suite.self_description import as_object

TASKS: Final = "io.modelcontextprotocol/tasks"
SKILLS: Final = "io.modelcontextprotocol/skills"
HAS_TASKS: Final[Need] = declares("extensions", TASKS)
HAS_SKILLS: Final[Need] = Need(
    lambda facts: SKILLS in as_object(facts.capabilities.get("extensions")),
    f"does not declare `extensions.{SKILLS}`",
)
"""Whatever it is declared with: what it must be declared with is for a check."""
UNDECLARED: Final[dict[str, Any]] = {CAPABILITIES_KEY: {}}
"""The `_meta` of a request whose client knows no extension."""


def declares_tasks(params: dict[str, Any]) -> bool:
    """Whether a request says that its client knows tasks."""
    capabilities = as_object(as_object(params.get("_meta")).get(CAPABILITIES_KEY))
    return TASKS in as_object(capabilities.get("extensions"))
