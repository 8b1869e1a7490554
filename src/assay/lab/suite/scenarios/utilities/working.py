"""Ordinary work, asked for with progress and log messages, and without."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY
from assay.lab.harness.driver.safe_request import AN_ERRAND, errands
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.trace.log_level import LEVELS
from assay.lab.harness.transport import Transport


@scenario(
    "Work that reports",
    exercises=(
        "utilities.progress-values",
        "utilities.progress-tokens",
        "utilities.log-declared",
        "utilities.log-on-demand",
        "lifecycle.version-respected",
        "lifecycle.negotiated-only",
    ),
    needs=(AN_ERRAND,),
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    if stage.transport is Transport.HTTP and stage.revision.http.sessions:
        await peer.http.listen()
    if stage.facts.declares("logging") and not stage.revision.logs_on_demand:
        await peer.request("logging/setLevel", {"level": LEVELS[0]})
    level = {LOG_LEVEL_KEY: LEVELS[0]} if stage.revision.logs_on_demand else {}
    for number, errand in enumerate(errands(stage.facts)):
        await errand.ask(peer, {"progressToken": number, **level})
        await errand.ask(peer)
