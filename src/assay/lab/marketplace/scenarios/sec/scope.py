"""What any server can be asked, with a token that is good for less than the server asks for."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import come_in, try_open
from assay.lab.harness.need import A_WEAK_TOKEN, PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import NONE, WEAK
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.marketplace.sec_scopes import GRANTED, granted_to
from assay.lab.suite.falling_short import requests


@scenario(
    "The scope of the token is too small",
    exercises=("sec.scope",),
    needs=(PROTECTED, A_WEAK_TOKEN),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    await come_in(stage)
    # Its challenge says what it takes; what the token has is not to be seen on the wire.
    await try_open(stage, NONE)
    stage.note(GRANTED, scopes=granted_to(stage.wallet.get(WEAK) or ""))
    async for _ in requests(stage, await stage.connect(WEAK)):
        pass
