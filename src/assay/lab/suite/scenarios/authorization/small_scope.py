"""What any server can be asked, with a token that is good for less."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import come_in
from assay.lab.harness.need import A_WEAK_TOKEN, PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import WEAK
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.falling_short import requests


@scenario(
    "A token with too small a scope",
    exercises=("authorization.small-scope",),
    needs=(PROTECTED, A_WEAK_TOKEN),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    await come_in(stage)
    async for _ in requests(stage, await stage.connect(WEAK)):
        pass
