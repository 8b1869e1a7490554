"""Too small a scope, then a token with just the scopes that the challenge names."""

from __future__ import annotations

from assay.lab.harness.bearer import STEPPED, WEAK
from assay.lab.harness.challenge import bearer_challenge
from assay.lab.harness.knocking import ask, come_in, knock
from assay.lab.harness.need import A_WEAK_TOKEN, PROTECTED, TOKENS_AT_WILL
from assay.lab.harness.scenario import scenario
from assay.lab.harness.stage import Stage
from assay.lab.harness.transport import HTTP_ONLY


@scenario(
    "Coming back with the scopes of the challenge",
    exercises=("authorization.step-up",),
    needs=(PROTECTED, A_WEAK_TOKEN, TOKENS_AT_WILL),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    await come_in(stage)
    refused = await ask(stage, await stage.connect(WEAK))
    challenge = bearer_challenge(refused.head)
    if challenge is not None and challenge.scopes and await stage.wallet.step_up(challenge.scopes):
        await knock(stage, STEPPED)
