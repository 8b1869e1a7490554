"""What a conformance suite wants from the client: arguments, and three environment variables."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from assay import Client, Stdio

PREFIX = "MCP_CONFORMANCE_"
USAGE = "write everything_client URL, or the command line of a stdio server as one argument"
NO_SCENARIO = (
    f"no scenario: a conformance suite starts this client and sets {PREFIX}SCENARIO and {PREFIX}CONTEXT; try "
    "assay check --client -- python -m assay.bundled.everything_client"
)
Connect = Callable[..., Client]
"""`Client` for the suite's server; it takes the other options."""


class BadTask(Exception):
    """The suite's input cannot be used."""


class Task(NamedTuple):
    target: str | Stdio
    scenario: str
    context: dict[str, Any]
    """Data of the scenario, such as credentials; from Assay's lab also the steps to take."""
    revision: str | None = None

    @property
    def reports(self) -> bool:
        """Whether the suite wants a line of JSON about each step, at its revision and no other."""
        return self.context.get("report") is True

    def value(self, name: str) -> Any:
        if name not in self.context and not self.scenario:
            raise BadTask(NO_SCENARIO)
        if name not in self.context:
            raise BadTask(f"{PREFIX}CONTEXT has no {name!r}, which the scenario {self.scenario} needs")
        return self.context[name]


def read_task(arguments: Sequence[str]) -> Task:
    """
    Raises:
        BadTask: not one argument, or an environment that cannot be used.
    """
    if len(arguments) != 1 or not arguments[0].strip() or arguments[0].startswith("-"):
        raise BadTask(USAGE)
    server = arguments[0]
    target = server if "://" in server.partition(" ")[0] else Stdio(*shlex.split(server))
    revision = os.environ.get(f"{PREFIX}PROTOCOL_VERSION")
    return Task(target, os.environ.get(f"{PREFIX}SCENARIO", ""), _read_context(), revision)


def _read_context() -> dict[str, Any]:
    try:
        context = json.loads(os.environ.get(f"{PREFIX}CONTEXT") or "{}")
    except ValueError as error:
        raise BadTask(f"{PREFIX}CONTEXT is not JSON: {error}") from None
    if not isinstance(context, dict):
        raise BadTask(f"{PREFIX}CONTEXT is not a JSON object")
    return context
