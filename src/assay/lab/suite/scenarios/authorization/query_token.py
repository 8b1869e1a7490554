"""A good token in the address, and none in the header."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import ask_by_query, come_in
from assay.lab.harness.need import PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY


@scenario(
    "A token in the query",
    exercises=("authorization.query-token",),
    needs=(PROTECTED,),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    await come_in(stage)
    await ask_by_query(stage)
