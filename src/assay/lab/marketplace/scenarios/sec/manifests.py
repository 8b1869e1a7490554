"""The manifests are asked for with a token, with a bad one, and with none."""

from __future__ import annotations

from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import come_in
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.need import PROTECTED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import GARBAGE, NONE
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.marketplace.sec_admission import MANIFESTS


@scenario(
    "Who may read the manifests", exercises=("sec.manifests",), needs=(PROTECTED,), transports=HTTP_ONLY
)
async def drive(stage: Stage) -> None:
    await _read(await come_in(stage))
    await _read(await stage.connect(GARBAGE))
    await _read(await stage.connect(NONE))


async def _read(peer: Peer) -> None:
    for place in MANIFESTS:
        sent = await peer.http.call("GET", headers={"Accept": JSON}, target=place)
        await sent.settled(peer.patience)
