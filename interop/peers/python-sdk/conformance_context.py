"""The input of a conformance client: arguments, and three environment variables.

The official suite names only the scenario; its steps are in `client_steps.json`.
"""

import argparse
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

STEPS = Path(__file__).parents[1] / "client_steps.json"
PREFIX = "MCP_CONFORMANCE_"

Step: TypeAlias = dict[str, Any]


class NoApi(Exception):
    """The SDK has no API for it."""

    def __init__(self, feature: str) -> None:
        super().__init__(f"this SDK has no {feature}")


class BadContext(Exception):
    """The suite's input is invalid."""


@dataclass(frozen=True)
class Context:
    """`data` is the scenario's context, including secrets of an OAuth client."""

    url: str | None
    server_command: str | None
    revision: str | None
    data: dict[str, Any]
    steps: list[Step]
    capabilities: frozenset[str] = frozenset()
    answers: dict[str, Any] = field(default_factory=dict)
    oauth: dict[str, Any] | None = None

    @classmethod
    def from_process(cls) -> "Context":
        arguments = parse()
        data = from_environment("CONTEXT")
        script = data if "steps" in data else script_of(os.environ.get(f"{PREFIX}SCENARIO"))
        return cls(
            url=arguments.url,
            server_command=arguments.server_command,
            revision=os.environ.get(f"{PREFIX}PROTOCOL_VERSION"),
            data=data,
            steps=script["steps"],
            capabilities=frozenset(script.get("capabilities", ())),
            answers=script.get("answers", {}),
            oauth=script.get("oauth"),
        )

    def value(self, name: str) -> Any:
        if name not in self.data:
            raise BadContext(f"{PREFIX}CONTEXT has no {name!r}, which this scenario needs")
        return self.data[name]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A client of the Python SDK, for suites that judge clients.")
    parser.add_argument("--server-command", metavar="LINE", help="start this server and use stdio")
    parser.add_argument("url", metavar="URL", nargs="?", help="address of the server")
    arguments = parser.parse_args()
    if (arguments.url is None) is (arguments.server_command is None):
        parser.error("give either a URL or --server-command")
    return arguments


def from_environment(name: str) -> dict[str, Any]:
    text = os.environ.get(f"{PREFIX}{name}", "{}")
    try:
        value = json.loads(text)
    except ValueError as error:
        raise BadContext(f"{PREFIX}{name} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadContext(f"{PREFIX}{name} is not a JSON object")
    return value


def script_of(scenario: str | None) -> dict[str, Any]:
    scripts: dict[str, Any] = json.loads(STEPS.read_text("utf-8"))
    if scenario not in scripts:
        raise BadContext(f"no steps in {PREFIX}CONTEXT and none for scenario {scenario}")
    script: dict[str, Any] = scripts[scenario]
    return script
