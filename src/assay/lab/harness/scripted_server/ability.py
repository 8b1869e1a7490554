"""What a client can do: which scenarios apply to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.reason import Reason, ReasonKind
from assay.lab.harness.scenario import Scenario
from assay.lab.harness.trace.listing import is_declared

from .client_script import ClientScript, Json

PAGES: Final = "pages"
"""Reads more than the first page of a list."""
TIMEOUT: Final = "timeout"
"""Gives up waiting for the answer to a call after the time that the step says."""
METHODS: Final = {
    "list_tools": "tools/list",
    "list_resources": "resources/list",
    "list_templates": "resources/templates/list",
    "read_resource": "resources/read",
    "list_prompts": "prompts/list",
    "get_prompt": "prompts/get",
    "complete": "completion/complete",
    "listen": "subscriptions/listen",
    "change_roots": "notifications/roots/list_changed",
}
"""Steps that show in a trace by their method."""
BASIC: Final = frozenset({"list_tools", "call_tool"})
"""The steps of the first probe."""
ALWAYS: Final = frozenset({*METHODS, *BASIC, PAGES, TIMEOUT, "together"}) - {"listen", "change_roots"}
"""The steps of the second probe that do not depend on the revision."""
WITHOUT_STEPS: Final = "it does not follow the steps of its context"


class Ability(Struct, frozen=True, kw_only=True):
    """What the probes of a client on one transport and revision have shown."""

    done: frozenset[str] = frozenset()
    """Steps that the client did."""
    follows_steps: bool = True
    """Whether it does what the steps say, rather than what it knows of a scenario by its name."""
    lacking: frozenset[str] = frozenset()
    """Steps that it did not do although it did all that it can: it exited with status 0."""
    declared: Mapping[str, Any] | None = None
    """Its capabilities when it was asked for all; None if unknown."""
    oauth: bool | None = None
    """Whether it looks for an authorization server; None if unknown."""


ANYTHING: Final = Ability()
"""A client about which nothing is known."""


def unmet(scenario: Scenario, ability: Ability) -> Reason | None:
    """Why a scenario does not apply to a client."""
    script = scenario.script or ClientScript()
    lacks = _without_steps if not ability.follows_steps else _with_steps
    problem = lacks(scenario, script, ability)
    if not problem and script.oauth and ability.oauth is False:
        problem = "it does not look for an authorization server after status 401"
    return Reason(ReasonKind.NOT_APPLICABLE, f"the client cannot do this: {problem}") if problem else None


def _with_steps(scenario: Scenario, script: ClientScript, ability: Ability) -> str:
    absent = sorted(needed(script) & ability.lacking)
    if absent:
        return f"in the probe it skipped {', '.join(absent)}"
    undeclared = list(_undeclared(script, ability))
    return f"it does not declare {', '.join(undeclared)}" if undeclared else ""


def _without_steps(scenario: Scenario, script: ClientScript, ability: Ability) -> str:
    steps = needed(script)
    if scenario.official is not None and ability.done >= BASIC:
        # It may know the scenario by its name, as it knew the first probe.
        steps &= BASIC
    elif any(_undeclared(script, ability)):
        return WITHOUT_STEPS
    absent = sorted(steps - ability.done)
    return f"{WITHOUT_STEPS}, here {', '.join(absent)}" if absent else ""


def _undeclared(script: ClientScript, ability: Ability) -> Iterator[str]:
    if ability.declared is not None and not script.any_capabilities:
        for name in script.capabilities:
            if not is_declared(dict(ability.declared), *name.split(".")):
                yield name


def needed(script: ClientScript) -> frozenset[str]:
    """The steps of a script, with those inside of others."""
    inner = script.answers.get("before_answering", ())
    special = {PAGES: script.pages, TIMEOUT: script.timeouts}
    return frozenset({*_names(script.steps), *_names(inner), *(name for name in special if special[name])})


def _names(steps: Iterable[Json]) -> Iterator[str]:
    for step in steps:
        yield step["do"]
        yield from _names(step.get("steps", ()))
