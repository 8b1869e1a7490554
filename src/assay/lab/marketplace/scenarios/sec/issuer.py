"""A token that names another issuer."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import come_in, try_open
from assay.lab.harness.need import A_TOKEN_OF_ANOTHER_ISSUER, PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import OTHER_ISSUER
from assay.lab.harness.transport import HTTP_ONLY


@scenario(
    "The token is of another issuer",
    exercises=("sec.issuer",),
    needs=(PROTECTED, A_TOKEN_OF_ANOTHER_ISSUER),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    await come_in(stage)
    await try_open(stage, OTHER_ISSUER)
