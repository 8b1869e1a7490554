"""Remarks on the tools of a server: which were not called, which are slow, and which never succeeded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from assay.lab.harness.subject.facts import Facts, Permission, ToolCalls, permission_for

from .run import Run

NAMED: Final = 6
"""Tools that a remark names."""
MOST_ERRORS: Final = 20
OPTIONS: Final = {Permission.EFFECTS: "--allow-effects", Permission.DESTRUCTIVE: "--allow-destructive"}
KINDS: Final = {
    Permission.EFFECTS: "do not say that they only read",
    Permission.DESTRUCTIVE: "say that they may destroy",
}
HINT: Final = "give arguments that work with --arguments FILE; `assay arguments TARGET` writes such a file"
UNJUDGED: Final = "their results, errors, progress and cancellation"


def call_remarks(run: Run) -> Iterator[str]:
    """One line for each kind of tools that were left out, then for slow tools and for those that fail."""
    tools, calls, permission = _tools(run)
    for kind in OPTIONS:
        names = [name for name, tool in tools.items() if permission_for(tool) is kind]
        if names and _is_left_out(kind, permission):
            yield _left_out(run, names, len(tools), kind)
    unlisted = [name for name in calls if name not in tools]
    if tools and unlisted:
        yield f"--arguments has tools that the server does not list: {_listed(unlisted)}"
    yield from _slow(calls)
    yield from _failing(calls)


def _tools(run: Run) -> tuple[dict[str, dict[str, Any]], dict[str, ToolCalls], Permission]:
    """The tools of all revisions and transports by name, and what is known about calling them."""
    every: list[Facts] = [facts for subject in run.subjects for facts in subject.facts]
    tools = {
        tool["name"]: tool for facts in every for tool in facts.tools if isinstance(tool.get("name"), str)
    }
    calls = {name: each for facts in every for name, each in facts.calls.items()}
    return tools, calls, every[0].permission if every else Permission.DESTRUCTIVE


def _is_left_out(kind: Permission, permission: Permission) -> bool:
    ranks = tuple(Permission)
    return ranks.index(kind) > ranks.index(permission)


def _left_out(run: Run, names: Sequence[str], total: int, kind: Permission) -> str:
    option = OPTIONS[kind]
    scenarios = {cell.scenario for cell in run.cells if option in cell.reason_options}
    further = f", and {_count(len(scenarios), 'scenario')}" if scenarios else ""
    return (
        f"not called: {len(names)} of {_count(total, 'tool')}, which {KINDS[kind]} ({_listed(names)}); "
        f"this leaves unjudged {UNJUDGED}{further}: add {option}"
    )


def _slow(calls: dict[str, ToolCalls]) -> Iterator[str]:
    slow = {name: each for name, each in calls.items() if each.slow}
    if slow:
        longest = max(each.seconds for each in slow.values())
        names = _listed([f"{name}: {each.error or f'{each.seconds:g} s'}" for name, each in slow.items()])
        yield f"slow, so called only once ({names}): wait longer with --timeout {max(4 * longest, 60):.0f}"


def _failing(calls: dict[str, ToolCalls]) -> Iterator[str]:
    failing = {name: each for name, each in calls.items() if each.error and not each.slow and not each.works}
    for name, each in list(failing.items())[:MOST_ERRORS]:
        yield f"never succeeded: {name}: {each.error}"
    if len(failing) > MOST_ERRORS:
        yield f"never succeeded: {len(failing) - MOST_ERRORS} more tools"
    if failing:
        yield HINT


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
