"""A conversation is begun without a token."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import come_in, try_open
from assay.lab.harness.need import PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import NONE
from assay.lab.harness.transport import GUARDED


@scenario(
    "Without a token",
    exercises=("authorization.missing-token", "authorization.challenge"),
    needs=(PROTECTED,),
    transports=GUARDED,
)
async def drive(stage: Stage) -> None:
    await come_in(stage)
    await try_open(stage, NONE)
