"""Calls of tools with the summaries of their effects, and what they were seen to do on disk."""

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
from assay.lab.harness.driver.argument import arguments_for
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

DISK: Final = "disk"
"""The mark of what changed on disk during a call."""
HARMLESS: Final = "read-external"


# What a tool says of itself, how a summary calls that, and what holds where it says nothing.
HINTS: Final = {
    "readOnly": ("readOnlyHint", False),
    "destructive": ("destructiveHint", True),
    "idempotent": ("idempotentHint", False),
    "openWorld": ("openWorldHint", True),
}


class Summarised(Struct, frozen=True):
    """A call of a tool that was answered with content."""

    exchange: Exchange
    tool: dict[str, Any] | None
    """Its definition, where it was listed."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.exchange.frames

    @property
    def name(self) -> str:
        return str(self.exchange.params.get("name"))

    @property
    def summary(self) -> dict[str, Any] | None:
        return tag(self.exchange.result, EFFECTS)

    @property
    def effects(self) -> list[dict[str, Any]]:
        found = (self.summary or {}).get("effects")
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    @property
    def changes(self) -> list[dict[str, Any]]:
        """The effects that change something."""
        return [one for one in self.effects if one.get("op") != HARMLESS]

    @property
    def only_reads(self) -> bool:
        return hints(self.tool or {}).get("readOnlyHint") is True

    @property
    def problems(self) -> list[str]:
        """What is wrong with the form of the summary."""
        return [] if self.summary is None else list(_problems(self, self.summary))


def _problems(call: Summarised, summary: dict[str, Any]) -> Iterator[str]:
    holds = {
        "v": summary.get("v") == 1,
        "callId": isinstance(summary.get("callId"), str) and summary["callId"] != "",
        "tool": summary.get("tool") == call.name,
        "declared": _declares(summary.get("declared"), call.tool),
        "effects": isinstance(summary.get("effects"), list) and len(call.effects) == len(summary["effects"]),
        "argsDigest": is_digest(summary.get("argsDigest")),
        "resultDigest": is_digest(summary.get("resultDigest")),
        "retention": is_tier(summary.get("retention")),
    }
    yield from (f"{key} is {summary.get(key)!r}" for key, good in holds.items() if not good)
    if not holds["declared"]:
        yield f"and the tool is listed with {hints(call.tool or {})!r}"
    yield from (f"an effect is {one!r}" for one in call.effects if not _is_effect(one))


def _declares(value: Any, tool: dict[str, Any] | None) -> bool:
    """Whether it says of the tool what its definition says; where that has no hints, anything."""
    said = as_object(value)
    if not all(isinstance(said.get(key), bool) for key in HINTS):
        return False
    listed = hints(tool or {})
    return not listed or all(said[key] == listed.get(hint, usual) for key, (hint, usual) in HINTS.items())


def _is_effect(effect: dict[str, Any]) -> bool:
    target = as_object(effect.get("target"))
    named = all(isinstance(target.get(key), str) and target[key] for key in ("kind", "id"))
    return isinstance(effect.get("op"), str) and effect["op"] in OPS and named


def summarised(trace: Trace) -> Iterator[Summarised]:
    """Calls that ended with content, whether the tool failed or not; one that ends with questions has not."""
    tools = listed_tools(trace)
    for exchange in trace.exchanges("tools/call"):
        if isinstance((exchange.result or {}).get("content"), list):
            yield Summarised(exchange, tools.get(str(exchange.params.get("name"))))


class Seen(Struct, frozen=True):
    """A call, and the files that it created, changed or removed."""

    call: Summarised
    mark: Frame
    paths: tuple[str, ...]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (*self.call.frames, self.mark)

    @property
    def untold(self) -> list[str]:
        """The paths that no effect of the summary names."""
        return [path for path in self.paths if not any(names(one, path) for one in self.call.changes)]


def observed(trace: Trace) -> Iterator[Seen]:
    """Calls during which the disk was looked at."""
    calls = list(summarised(trace))
    for mark in trace.marks(DISK):
        mine = (one for one in calls if _is_of(mark, one.exchange))
        for call in mine:
            yield Seen(call, mark, tuple(_paths(mark)))


def _is_of(mark: Frame, exchange: Exchange) -> bool:
    here = exchange.request.frame.connection == mark.info.get("connection")
    return here and same_id(exchange.request.id, mark.info.get("call"))


def _paths(mark: Frame) -> Iterator[str]:
    for key in ("created", "changed", "removed"):
        found = mark.info.get(key)
        yield from (one for one in (found if isinstance(found, list) else []) if isinstance(one, str))


def names(effect: dict[str, Any], path: str) -> bool:
    """Whether an effect is on that file: by its path, or by the end of it, from the server's folder on."""
    target = as_object(effect.get("target"))
    said = target.get("id")
    if target.get("kind") != "file" or not isinstance(said, str):
        return False
    parts = PurePosixPath(_plain(said)).parts
    there = PurePosixPath(path).parts
    return bool(parts) and (parts == there if parts[0] == "/" else there[-len(parts) :] == parts)


def _plain(named: str) -> str:
    """The path that a file is named by, if by a URI."""
    return unquote(named.removeprefix("file:").removeprefix("//")) if named.startswith("file:") else named


MOST: Final = 20
"""Tools that are called, resources that are read, prompts that are got."""
TOLD: Final = 100
"""Paths of each kind that are kept of one call."""


def looking_on(stage: Stage) -> AbstractAsyncContextManager[Any]:
    """While nobody calls tools that change something, a file or a list, where the disk is observed."""
    disk = stage.out_of_band.disk
    return nullcontext() if disk is None else disk.access.shared()


def undisturbed(stage: Stage) -> AbstractAsyncContextManager[Any]:
    """While no other scenario looks at the disk, or changes anything there."""
    disk = stage.out_of_band.disk
    return nullcontext() if disk is None else disk.access.exclusive()


async def call_watched(stage: Stage, peer: Peer, tool: dict[str, Any]) -> None:
    """Call a tool; where the disk can be looked at, a mark tells what changed there.

    Raises:
        BrokenOff: no answer, or the directories cannot be looked at.
    """
    disk = stage.out_of_band.disk
    if disk is None:
        await peer.call(tool, fresh_arguments(tool, peer.revision.date))
        return
    before = await asyncio.to_thread(disk.state)
    number = peer.next_id()
    # New text for what is there already: only then does writing it show.
    await peer.call(tool, fresh_arguments(tool, repr(sorted(before.items()))), request_id=number)
    found = difference(before, await asyncio.to_thread(disk.state))
    stage.note(
        DISK,
        connection=peer.name,
        call=number,
        created=found.created[:TOLD],
        changed=found.changed[:TOLD],
        removed=found.removed[:TOLD],
    )


def fresh_arguments(tool: dict[str, Any], unlike: str) -> dict[str, Any]:
    """Arguments with another text where the schema leaves one open: the last such argument, as names mostly
    come before what they are names of."""
    made = arguments_for(tool)
    known = as_object(as_object(tool.get("inputSchema")).get("properties"))
    open_texts = [name for name in made if _is_open(as_object(known.get(name)))]
    for name in open_texts[-1:]:
        made[name] = f"assay {sha256(unlike.encode()).hexdigest()[:8]}"
    return made


def _is_open(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "string" and schema.keys() <= {"type", "title", "description"}
