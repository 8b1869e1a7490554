"""Work under a level that leaves most log messages out, and a level that does not exist."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.safe_request import errands
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import declares
from assay.lab.harness.scenario import scenario

LEVEL, NO_LEVEL = "error", "loud"


@scenario(
    "Log levels",
    exercises=("utilities.log-level", "utilities.log-on-demand", "utilities.bad-log-level"),
    needs=(declares("logging"),),
    official="logging-set-level",
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    on_demand = stage.revision.logs_on_demand
    await _set_level(peer, LEVEL)
    for number, errand in enumerate(errands(stage.facts)):
        level = {LOG_LEVEL_KEY: LEVEL} if on_demand else {}
        await errand.ask(peer, {"progressToken": f"token {number}", **level})
    await _set_level(peer, NO_LEVEL)


async def _set_level(peer: Peer, level: str) -> None:
    if peer.revision.logs_on_demand:
        await peer.request("server/discover", {"_meta": {LOG_LEVEL_KEY: level}})
    else:
        await peer.request("logging/setLevel", {"level": level})
