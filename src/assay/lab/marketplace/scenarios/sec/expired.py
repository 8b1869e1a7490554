"""A token that was good once."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import come_in, try_open
from assay.lab.harness.need import AN_EXPIRED_TOKEN, PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import EXPIRED
from assay.lab.harness.transport import HTTP_ONLY


@scenario(
    "The token has expired",
    exercises=("sec.expired",),
    needs=(PROTECTED, AN_EXPIRED_TOKEN),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    await come_in(stage)
    await try_open(stage, EXPIRED)
