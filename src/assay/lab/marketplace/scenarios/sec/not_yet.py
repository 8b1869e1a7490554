"""A token that will be good in six minutes."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_TOKEN_TO_COME, PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import NOT_YET
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.marketplace.sec_knocking import knock_ahead


@scenario(
    "The token is to be good later",
    exercises=("sec.not-yet",),
    needs=(PROTECTED, A_TOKEN_TO_COME),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    await knock_ahead(stage, NOT_YET)
