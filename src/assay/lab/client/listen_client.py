"""A server whose clients subscribe to changes of the list of tools."""

from __future__ import annotations

import asyncio
from typing import Final

from assay.lab.harness import Json
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, step
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.server import ScriptedServer

TOOLS_CHANGED: Final = "notifications/tools/list_changed"
LISTEN_SCRIPT: Final = ClientScript(
    steps=(
        LIST_TOOLS,
        step("listen", notifications={"toolsListChanged": True}),
        step("relist_on_change", seconds=5),
    )
)


def offer_changes(server: ScriptedServer) -> None:
    server.add_tool({"name": "work"})
    server.capabilities["tools"]["listChanged"] = True


async def acknowledge(cycle: RequestCycle, pause: float) -> Json:
    """Acknowledge the subscription and give the client time to wait for changes.

    Returns the parameters that every notification of this subscription has.
    """
    own: Json = {"_meta": {SUBSCRIPTION_KEY: cycle.id}}
    granted = {"notifications": cycle.params.get("notifications") or {}}
    await cycle.notify("notifications/subscriptions/acknowledged", {**granted, **own})
    await asyncio.sleep(pause)
    return own
