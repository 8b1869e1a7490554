"""The same is asked with the usual certificate, with none, and with one of a stranger."""

from __future__ import annotations

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.driver.try_open import ask, come_in
from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.links.identity import REFUSED
from assay.lab.harness.need import CERTIFIED
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.bearer import NONE, STRANGER
from assay.lab.harness.transport import HTTP_ONLY


@scenario("Who shows a certificate", exercises=("sec.certificate",), needs=(CERTIFIED,), transports=HTTP_ONLY)
async def drive(stage: Stage) -> None:
    await come_in(stage)
    for kind in (NONE, STRANGER):
        peer = await stage.connect(certificate=kind)
        try:
            await ask(stage, peer)
        except Unreachable as reason:
            # Where TLS refuses at once, nothing passes that could be recorded.
            peer.mark(REFUSED, shows=kind, reason=str(reason))
