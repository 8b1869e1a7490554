"""Too small a scope, then the same with just the scopes that the challenge names."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import ask, come_in
from assay.lab.harness.need import A_WEAK_TOKEN, PROTECTED, TOKENS_AT_WILL
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import STEPPED, WEAK
from assay.lab.harness.trace.challenge import bearer_challenge
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.falling_short import first_refused


@scenario(
    "Coming back with the scopes of the challenge",
    exercises=("authorization.step-up",),
    needs=(PROTECTED, A_WEAK_TOKEN, TOKENS_AT_WILL),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    await come_in(stage)
    refused = await first_refused(stage, await stage.connect(WEAK))
    if refused is None:
        return
    errand, reply = refused
    challenge = bearer_challenge(reply.head)
    if challenge is not None and challenge.scopes and await stage.wallet.step_up(challenge.scopes):
        again = await stage.connect(STEPPED)
        opened = await ask(stage, again)
        if errand is not None and opened.is_result:
            await errand.ask(again)
