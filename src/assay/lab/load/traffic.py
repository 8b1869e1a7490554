"""Which operations a scenario consists of, by what the server offers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from random import Random
from typing import Any, Final

from msgspec import Struct

from assay.lab.error import InvalidOptions
from assay.lab.harness.driver.argument import required_names
from assay.lab.harness.driver.choice import ASKING, calls_with_progress, matching_tools, uris_of
from assay.lab.harness.driver.message_meta import param_headers
from assay.lab.harness.subject.facts import Facts

from .operation import Operation

AGENT: Final = {"calls": 6, "reads": 2, "lists": 1, "prompts": 1}
"""An agent mostly calls, and sometimes lists."""
KINDS: Final = ("calls", "reads", "lists", "prompts", "streams", "sessions")
SCENARIOS: Final[Mapping[str, Mapping[str, int]]] = {"agent": AGENT, **{kind: {kind: 1} for kind in KINDS}}
MOST_OF_A_KIND: Final = 5
LONGEST_CYCLE: Final = 1000
_MIX: Final = re.compile(r"([a-z]+)=([1-9]\d{0,2})")
FORM: Final = f"write {', '.join(SCENARIOS)}, or a mix of kinds such as calls=6,lists=1"
SESSION: Final = Operation(kind="sessions", name="open a session", method="")
_LISTS: Final = (("tools", "tools/list"), ("resources", "resources/list"), ("prompts", "prompts/list"))


class Traffic(Struct, frozen=True):
    operations: list[Operation]
    remarks: list[str]
    """Kinds of operations that the server does not offer, or that are not permitted."""


def parse_scenario(text: str) -> dict[str, int]:
    """The weight of each kind of operation.

    Raises:
        InvalidOptions: it is neither a scenario nor a mix.
    """
    if text in SCENARIOS:
        return dict(SCENARIOS[text])
    weights: dict[str, int] = {}
    for part in text.split(","):
        match = _MIX.fullmatch(part.strip())
        if match is None or match[1] not in KINDS:
            raise InvalidOptions(f"no such scenario: {text}", FORM)
        weights[match[1]] = int(match[2])
    if "sessions" in weights and len(weights) > 1:
        raise InvalidOptions("sessions are not mixed with other operations", "measure them alone")
    return weights


def traffic_of(facts: Facts, weights: Mapping[str, int], tools: Sequence[str] = ()) -> Traffic:
    """
    Raises:
        InvalidOptions: there is nothing to send.
    """
    operations: list[Operation] = []
    remarks: list[str] = []
    for kind, weight in weights.items():
        kind_operations = _OFFERS[kind](facts, tools)[:MOST_OF_A_KIND]
        if not kind_operations:
            remarks.append(f"no {kind}: {_MISSING[kind]}")
        operations += [_weighted(each, weight) for each in kind_operations]
    if not operations:
        raise InvalidOptions(f"nothing to send: {'; '.join(remarks)}", "choose another --scenario")
    return Traffic(operations, remarks)


def _weighted(operation: Operation, weight: int) -> Operation:
    from msgspec.structs import replace

    return replace(operation, weight=weight)


def cycle_of(operations: Iterable[Operation], seed: int = 0) -> list[Operation]:
    """A sequence in which each kind occurs in proportion to its weight, and each operation at least once."""
    kinds: dict[str, list[Operation]] = {}
    for operation in operations:
        kinds.setdefault(operation.kind, []).append(operation)
    turns = max(ceil(len(members) / members[0].weight) for members in kinds.values())
    cycle = [
        members[number % len(members)]
        for members in kinds.values()
        for number in range(members[0].weight * turns)
    ]
    Random(seed).shuffle(cycle)
    return cycle[:LONGEST_CYCLE]


def calls_of(facts: Facts, tools: Sequence[str] = ()) -> list[Operation]:
    asking = matching_tools(ASKING, facts)
    if tools:
        chosen = [tool for tool in facts.permitted_tools if tool["name"] in tools]
    else:
        chosen = [tool for tool in facts.quick_tools if facts.calls_of(tool).works and tool not in asking]
    return [_call(tool, facts, "calls") for tool in chosen]


def _call(tool: dict[str, Any], facts: Facts, kind: str) -> Operation:
    arguments = facts.arguments_for(tool)
    return Operation(
        kind=kind,
        name=f"{kind} {tool['name']}",
        method="tools/call",
        params={"name": tool["name"], "arguments": arguments},
        headers=param_headers(tool, arguments),
        is_stream=kind == "streams",
    )


def _streams(facts: Facts, tools: Sequence[str]) -> list[Operation]:
    if tools:
        return [
            _call(tool, facts, "streams")
            for tool in facts.permitted_tools
            if tool["name"] in tools and (facts.calls_of(tool).progress or not facts.calls_of(tool).works)
        ]
    return [
        Operation(
            kind="streams",
            name=f"streams {request.params['name']}",
            method=request.method,
            params=request.params,
            headers=request.headers,
            is_stream=True,
        )
        for request in calls_with_progress(facts)
    ]


def _reads(facts: Facts, tools: Sequence[str]) -> list[Operation]:
    return [
        Operation(kind="reads", name=f"reads {uri}", method="resources/read", params={"uri": uri})
        for uri in uris_of(facts)
    ]


def _lists(facts: Facts, tools: Sequence[str]) -> list[Operation]:
    return [
        Operation(kind="lists", name=method, method=method)
        for capability, method in _LISTS
        if capability in facts.capabilities
    ]


def _prompts(facts: Facts, tools: Sequence[str]) -> list[Operation]:
    return [
        Operation(
            kind="prompts",
            name=f"prompts {prompt['name']}",
            method="prompts/get",
            params={"name": prompt["name"]},
        )
        for prompt in facts.prompts
        if isinstance(prompt.get("name"), str) and not required_names(prompt)
    ]


def _sessions(facts: Facts, tools: Sequence[str]) -> list[Operation]:
    return [SESSION]


_OFFERS: Final = {
    "calls": calls_of,
    "streams": _streams,
    "reads": _reads,
    "lists": _lists,
    "prompts": _prompts,
    "sessions": _sessions,
}
_MAY: Final = "--allow-effects calls tools without `readOnlyHint`, --arguments gives them arguments"
_MISSING: Final = {
    "calls": f"no tool works that may be called; {_MAY}",
    "streams": f"no tool that may be called reports progress; {_MAY}",
    "reads": "the server lists no resource",
    "lists": "the server declares no list",
    "prompts": "the server has no prompt without required arguments",
    "sessions": "",
}
