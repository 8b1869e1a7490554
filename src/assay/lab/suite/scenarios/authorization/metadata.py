"""The way of a client that comes without a token: the challenge, then the metadata that it leads to."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import ask, come_in
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.need import PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import NONE
from assay.lab.harness.trace.challenge import METADATA, bearer_challenge
from assay.lab.harness.trace.resource_metadata import places
from assay.lab.harness.transport import HTTP_ONLY


@scenario(
    "From the challenge to the metadata",
    exercises=("authorization.metadata", "authorization.challenge", "authorization.offline-access"),
    needs=(PROTECTED,),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    await come_in(stage)
    nobody = await stage.connect(NONE)
    challenge = bearer_challenge((await ask(stage, nobody)).head)
    told = None if challenge is None else challenge.params.get(METADATA)
    address = nobody.http.address
    for place in places(address.target, address.authority, told):
        sent = await nobody.http.call("GET", headers={"Accept": JSON}, target=place)
        await sent.settled(nobody.patience)
