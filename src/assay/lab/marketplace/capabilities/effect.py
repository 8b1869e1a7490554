"""Tool calls with their effect summaries, and the changes on disk during them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import unquote

from msgspec import Struct

from assay.lab.harness import Stage, Trace
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.subject.disk import difference
from assay.lab.harness.subject.facts import hints
from assay.lab.harness.subject.registry_entry import as_object
from assay.lab.harness.trace.digest import is_digest
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.message import same_id
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.tool_call import listed_tools
from assay.model.effect import OPS

from .meta import EFFECTS, is_tier, tag

MOST: Final = 20
"""Tools to call, and prompts to get."""
DISK: Final = "disk"
"""The mark with the changes on disk during a call."""
MAX_PATHS: Final = 100
"""Paths of each kind in a mark."""
# The fields of `declared` in a summary: the hint of the tool, and its default.
HINTS: Final = {
    "readOnly": ("readOnlyHint", False),
    "destructive": ("destructiveHint", True),
    "idempotent": ("idempotentHint", False),
    "openWorld": ("openWorldHint", True),
}


class ToolCall(Struct, frozen=True):
    """A tool call that was answered."""

    exchange: Exchange
    tool: dict[str, Any] | None
    """Its definition, if it was listed."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.exchange.frames

    @property
    def name(self) -> str:
        return str(self.exchange.params.get("name"))

    @property
    def has_content(self) -> bool:
        return isinstance((self.exchange.result or {}).get("content"), list)

    @property
    def summary(self) -> dict[str, Any] | None:
        return tag(self.exchange.result, EFFECTS)

    @property
    def effects(self) -> list[dict[str, Any]]:
        effects = (self.summary or {}).get("effects")
        return [item for item in effects if isinstance(item, dict)] if isinstance(effects, list) else []

    @property
    def changes(self) -> list[dict[str, Any]]:
        """The effects that change something."""
        return [effect for effect in self.effects if effect.get("op") != "read-external"]

    @property
    def changes_files(self) -> bool:
        """Whether the summary reports a change of a file."""
        return any(as_object(effect.get("target")).get("kind") == "file" for effect in self.changes)

    @property
    def only_reads(self) -> bool:
        return hints(self.tool or {}).get("readOnlyHint") is True

    @property
    def problems(self) -> list[str]:
        """What is wrong with the form of the summary."""
        return [] if self.summary is None else list(_problems(self, self.summary))


def _problems(call: ToolCall, summary: dict[str, Any]) -> Iterator[str]:
    valid = {
        "v": summary.get("v") == 1,
        "callId": isinstance(summary.get("callId"), str) and summary["callId"] != "",
        "tool": summary.get("tool") == call.name,
        "declared": _declares(summary.get("declared"), call.tool),
        "effects": isinstance(summary.get("effects"), list) and len(call.effects) == len(summary["effects"]),
        "argsDigest": is_digest(summary.get("argsDigest")),
        "resultDigest": is_digest(summary.get("resultDigest")),
        "retention": is_tier(summary.get("retention")),
    }
    yield from (f"{key} is {summary.get(key)!r}" for key, holds in valid.items() if not holds)
    if not valid["declared"]:
        yield f"and the tool is listed with {hints(call.tool or {})!r}"
    yield from (f"an effect is {effect!r}" for effect in call.effects if not _is_effect(effect))


def _declares(value: Any, tool: dict[str, Any] | None) -> bool:
    """Whether `declared` has the hints of the tool; any values are right for a tool without hints."""
    declared = as_object(value)
    if not all(isinstance(declared.get(key), bool) for key in HINTS):
        return False
    listed = hints(tool or {})
    return not listed or all(declared[key] == listed.get(hint, usual) for key, (hint, usual) in HINTS.items())


def _is_effect(effect: dict[str, Any]) -> bool:
    target = as_object(effect.get("target"))
    named = all(isinstance(target.get(key), str) and target[key] for key in ("kind", "id"))
    return isinstance(effect.get("op"), str) and effect["op"] in OPS and named


def tool_calls(trace: Trace) -> Iterator[ToolCall]:
    """The calls with content as their result; a result that asks for input has none."""
    return (call for call in answered_calls(trace) if call.has_content)


def answered_calls(trace: Trace) -> Iterator[ToolCall]:
    """All calls, also those that ended with an error."""
    tools = listed_tools(trace)
    for exchange in trace.exchanges("tools/call"):
        yield ToolCall(exchange, tools.get(str(exchange.params.get("name"))))


class ObservedCall(Struct, frozen=True):
    """A call, and the files that were created, changed or removed during it."""

    call: ToolCall
    mark: Frame

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (*self.call.frames, self.mark)

    @property
    def paths(self) -> list[str]:
        lists = (self.mark.info.get(key) for key in ("created", "changed", "removed"))
        return [path for paths in lists if isinstance(paths, list) for path in paths if isinstance(path, str)]

    @property
    def unreported(self) -> list[str]:
        """The paths that no effect of the summary names."""
        return [path for path in self.paths if not any(names(effect, path) for effect in self.call.changes)]


def observed_calls(trace: Trace) -> Iterator[ObservedCall]:
    """The calls during which the disk was observed. An error does not hide a change, and proves nothing
    without one."""
    calls = list(answered_calls(trace))
    for mark in trace.marks(DISK):
        for call in calls:
            request = call.exchange.request
            here = request.frame.connection == mark.info.get("connection")
            observed = ObservedCall(call, mark)
            if here and same_id(request.id, mark.info.get("call")) and (call.has_content or observed.paths):
                yield observed


def names(effect: dict[str, Any], path: str) -> bool:
    """Whether an effect is on this file: by its path or URI, or by a path relative to the server's folder."""
    target = as_object(effect.get("target"))
    file = target.get("id")
    if target.get("kind") != "file" or not isinstance(file, str):
        return False
    if file.startswith("file:"):
        file = unquote(file.removeprefix("file:").removeprefix("//"))
    parts, actual = PurePosixPath(file).parts, PurePosixPath(path).parts
    return bool(parts) and (parts == actual if parts[0] == "/" else actual[-len(parts) :] == parts)


def shared_access(stage: Stage) -> AbstractAsyncContextManager[Any]:
    """Access to the server while no other scenario calls tools that may change something."""
    disk = stage.out_of_band.disk
    return nullcontext() if disk is None else disk.access.shared()


def exclusive_access(stage: Stage) -> AbstractAsyncContextManager[Any]:
    """Access to the server while no other scenario observes the disk or changes it."""
    disk = stage.out_of_band.disk
    return nullcontext() if disk is None else disk.access.exclusive()


async def call_observed(stage: Stage, peer: Peer, tool: dict[str, Any]) -> None:
    """Call a tool, and mark the changes on disk, if the disk is observed.

    Raises:
        BrokenOff: no answer, or the directories cannot be read.
    """
    disk = stage.out_of_band.disk
    arguments = stage.facts.arguments_for(tool)
    if disk is None:
        await peer.call(tool, fresh_arguments(tool, arguments, peer.revision.date))
        return
    before = await asyncio.to_thread(disk.state)
    number = peer.next_id()
    # Only text that no file has yet makes a write visible.
    await peer.call(tool, fresh_arguments(tool, arguments, repr(sorted(before.items()))), request_id=number)
    changes = difference(before, await asyncio.to_thread(disk.state))
    stage.note(
        DISK,
        connection=peer.name,
        call=number,
        created=changes.created[:MAX_PATHS],
        changed=changes.changed[:MAX_PATHS],
        removed=changes.removed[:MAX_PATHS],
    )


def fresh_arguments(tool: dict[str, Any], usual: dict[str, Any], unlike: str) -> dict[str, Any]:
    """Arguments with new text in the last unrestricted string: names usually come before contents."""
    arguments = dict(usual)
    properties = as_object(as_object(tool.get("inputSchema")).get("properties"))
    unrestricted = [name for name in arguments if _is_unrestricted(as_object(properties.get(name)))]
    for name in unrestricted[-1:]:
        arguments[name] = f"assay {sha256(unlike.encode()).hexdigest()[:8]}"
    return arguments


def _is_unrestricted(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "string" and schema.keys() <= {"type", "title", "description"}
