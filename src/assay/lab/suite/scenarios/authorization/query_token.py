"""A good token in the address, and none in the header."""

from __future__ import annotations

import msgspec

from assay.lab.harness.bearer import NONE, USUAL
from assay.lab.harness.knocking import ask, come_in
from assay.lab.harness.need import PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.stage import Stage
from assay.lab.harness.transport import HTTP_ONLY


@scenario(
    "A token in the query",
    exercises=("authorization.query-token",),
    needs=(PROTECTED,),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    await come_in(stage)
    nobody = await stage.connect(NONE)
    address = nobody.http.address
    between = "&" if "?" in address.target else "?"
    target = f"{address.target}{between}access_token={stage.wallet.get(USUAL)}"
    nobody.http.address = msgspec.structs.replace(address, target=target)
    await ask(stage, nobody)
