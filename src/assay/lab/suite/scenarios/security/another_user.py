"""Another user, who has learned the id of a session or the state of a request."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import come_in, try_open
from assay.lab.harness.need import ANOTHER_USER, PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import OTHER
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.intruding import SOMETHING_KEPT, intrude, intrude_with_state


@scenario(
    "What is kept for another user",
    exercises=("security.another-user",),
    needs=(PROTECTED, ANOTHER_USER, SOMETHING_KEPT),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    owner = await come_in(stage)
    # The control: the other user is welcome, too.
    await try_open(stage, OTHER)
    await intrude(stage, owner, OTHER)
    await intrude_with_state(stage, OTHER)
    await owner.request(stage.plain)
