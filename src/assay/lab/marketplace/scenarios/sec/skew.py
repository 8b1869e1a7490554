"""A token that will be good in twenty seconds, as one is from an issuer whose clock is ahead."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import A_SKEWED_TOKEN, PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import SKEWED
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.marketplace.sec_knocking import knock_ahead


@scenario(
    "The clock of the issuer is ahead",
    exercises=("sec.skew",),
    needs=(PROTECTED, A_SKEWED_TOKEN),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    await knock_ahead(stage, SKEWED)
