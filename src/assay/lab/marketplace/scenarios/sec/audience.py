"""A token that is good for another server."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import come_in, try_open
from assay.lab.harness.need import A_FOREIGN_TOKEN, PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import FOREIGN
from assay.lab.harness.transport import HTTP_ONLY


@scenario(
    "The token is for another server",
    exercises=("sec.audience",),
    needs=(PROTECTED, A_FOREIGN_TOKEN),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    await come_in(stage)
    await try_open(stage, FOREIGN)
