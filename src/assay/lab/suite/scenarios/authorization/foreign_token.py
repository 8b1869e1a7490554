"""A token that is good for another server, and one of an issuer whom this server does not know."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import come_in, try_open
from assay.lab.harness.need import A_FOREIGN_TOKEN, PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import FOREIGN, OTHER_ISSUER
from assay.lab.harness.transport import GUARDED


@scenario(
    "A token for another server",
    exercises=("authorization.foreign-token",),
    needs=(PROTECTED, A_FOREIGN_TOKEN),
    transports=GUARDED,
)
async def drive(stage: Stage) -> None:
    await come_in(stage)
    await try_open(stage, FOREIGN)
    if OTHER_ISSUER in stage.facts.bearers:
        await try_open(stage, OTHER_ISSUER)
