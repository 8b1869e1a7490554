"""An open conversation, in which somebody without a token speaks."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import come_in
from assay.lab.harness.need import PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import NONE
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.intruding import intrude, intrude_with_state


@scenario(
    "Requests without a token in an open conversation",
    exercises=("security.every-request",),
    needs=(PROTECTED,),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    owner = await come_in(stage)
    await intrude(stage, owner, NONE)
    await intrude_with_state(stage, NONE)
    # The session is still the owner's: whoever is refused has not ended it.
    await owner.request(stage.plain)
