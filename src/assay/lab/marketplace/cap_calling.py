"""Tools are called one by one; where the disk can be looked at, before and after each."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from hashlib import sha256
from typing import Any, Final

from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.subject.disk import difference
from assay.lab.harness.subject.registry_entry import as_object

from .cap_effect import DISK

MOST: Final = 20
"""Tools that are called, resources that are read, prompts that are got."""
TOLD: Final = 100
"""Paths of each kind that are kept of one call."""


def looking_on(stage: Stage) -> AbstractAsyncContextManager[Any]:
    """While nobody calls tools that change something, a file or a list, where the disk is observed."""
    disk = stage.surroundings.disk
    return nullcontext() if disk is None else disk.access.together()


def undisturbed(stage: Stage) -> AbstractAsyncContextManager[Any]:
    """While no other scenario looks at the disk, or changes anything there."""
    disk = stage.surroundings.disk
    return nullcontext() if disk is None else disk.access.alone()


async def call_watched(stage: Stage, peer: Peer, tool: dict[str, Any]) -> None:
    """Call a tool; where the disk can be looked at, a mark tells what changed there.

    Raises:
        BrokenOff: no answer, or the directories cannot be looked at.
    """
    disk = stage.surroundings.disk
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
