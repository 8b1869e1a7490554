"""What any server can be asked, with a token that is good for less."""

from __future__ import annotations

from assay.lab.harness.bearer import WEAK
from assay.lab.harness.broken_off import TurnedAway
from assay.lab.harness.errand import errands
from assay.lab.harness.knocking import ask, come_in
from assay.lab.harness.need import A_WEAK_TOKEN, PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.stage import Stage
from assay.lab.harness.transport import GUARDED


@scenario(
    "A token with too small a scope",
    exercises=("authorization.small-scope",),
    needs=(PROTECTED, A_WEAK_TOKEN),
    transports=GUARDED,
)
async def drive(stage: Stage) -> None:
    await come_in(stage)
    try:
        peer = await stage.connect(WEAK)
    except TurnedAway:
        return
    if (await ask(stage, peer)).is_result:
        for errand in errands(stage.facts):
            await errand.ask(peer)
