"""What is no token, and tokens that nobody issued, made of one that is good."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import come_in, try_open
from assay.lab.harness.need import PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import ALTERED, FORGED, GARBAGE, MALFORMED, STRANGER, UNSIGNED
from assay.lab.harness.transport import HTTP_ONLY

SHOWN = (MALFORMED, GARBAGE, ALTERED, UNSIGNED, FORGED, STRANGER)


@scenario("Nobody issued the token", exercises=("sec.bad-tokens",), needs=(PROTECTED,), transports=HTTP_ONLY)
async def drive(stage: Stage) -> None:
    await come_in(stage)
    for kind in SHOWN:
        if kind in stage.facts.bearers:
            await try_open(stage, kind)
