"""Several sessions, one after the other."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_SESSION
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY

SESSIONS = 4


@scenario(
    "Sessions one after the other",
    exercises=("security.session-ids",),
    needs=(A_SESSION,),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    for _ in range(SESSIONS):
        await stage.open()
