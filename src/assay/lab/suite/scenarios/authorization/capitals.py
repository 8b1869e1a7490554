"""A good token whose audience is written in capitals."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import come_in, try_open
from assay.lab.harness.need import PROTECTED, TOKENS_IN_CAPITALS
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import CAPITALS
from assay.lab.harness.transport import GUARDED


@scenario(
    "An audience in capitals",
    exercises=("authorization.capitals",),
    needs=(PROTECTED, TOKENS_IN_CAPITALS),
    transports=GUARDED,
)
async def drive(stage: Stage) -> None:
    await come_in(stage)
    await try_open(stage, CAPITALS)
