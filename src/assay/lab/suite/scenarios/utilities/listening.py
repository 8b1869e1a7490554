"""Work beside an open listen stream, which must hear nothing of it."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY
from assay.lab.harness.driver.safe_request import errands
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import Need
from assay.lab.harness.scenario import scenario
from assay.lab.harness.trace.log_level import LEVELS

WANTED = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
LISTS = ("tools", "prompts", "resources")
ANNOUNCED = Need(
    lambda facts: any(facts.declares(name, "listChanged") for name in LISTS), "announces no changes of lists"
)


@scenario(
    "Work beside a listen stream",
    exercises=("utilities.log-on-demand", "utilities.own-cancellation", "utilities.progress-tokens"),
    needs=(ANNOUNCED,),
    window=lambda revision: "subscriptions/listen" in revision.requests,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    listening = await peer.start("subscriptions/listen", {"notifications": WANTED})
    await peer.hear("notifications/subscriptions/acknowledged", during=listening)
    async with peer.probe("cancellation"):
        for number, errand in enumerate(errands(stage.facts)):
            await errand.ask(peer, {"progressToken": number, LOG_LEVEL_KEY: LEVELS[0]})
