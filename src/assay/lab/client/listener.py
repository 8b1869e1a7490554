"""A client that listens for changes of the list of tools."""

from __future__ import annotations

import asyncio
from typing import Final

from assay.lab.harness.hosting.answer import Json
from assay.lab.harness.hosting.brief import LIST_TOOLS, Brief, step
from assay.lab.harness.hosting.host import Host
from assay.lab.harness.hosting.turn import Turn
from assay.lab.harness.message_meta import SUBSCRIPTION_KEY

CHANGED: Final = "notifications/tools/list_changed"
BRIEF: Final = Brief(
    steps=(
        LIST_TOOLS,
        step("listen", notifications={"toolsListChanged": True}),
        step("relist_on_change", seconds=5),
    )
)


def offer_changes(host: Host) -> None:
    host.add_tool({"name": "work"})
    host.capabilities["tools"]["listChanged"] = True


async def acknowledge(turn: Turn, pause: float) -> Json:
    """Grant what is listened for, and pause until the client has come to wait. Returns what notifications of
    this subscription say."""
    own: Json = {"_meta": {SUBSCRIPTION_KEY: turn.id}}
    granted = {"notifications": turn.params.get("notifications") or {}}
    await turn.notify("notifications/subscriptions/acknowledged", {**granted, **own})
    await asyncio.sleep(pause)
    return own
