"""One visit of the guest to a host that a test sets up."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur
from assay.lab.harness.scripted_client.in_process import InProcessClient
from assay.lab.harness.scripted_server.brief import Brief
from assay.lab.harness.scripted_server.client import Ended, Invitation
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Header
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Revision

SHAKING, STATELESS = HANDSHAKE[-1], PER_REQUEST[-1]
LIMIT = 20.0


class Visited(Struct, frozen=True):
    ended: Ended
    trace: Trace

    @property
    def asked(self) -> list[str]:
        """Methods of the guest's requests, in their order."""
        return [one.method for one in self.trace.inquiries()]

    @property
    def said(self) -> str:
        return self.ended.stderr.decode()


async def visit(
    *steps: dict[str, Any],
    prepare: Callable[[ClientStage], None] = lambda hosting: None,
    revision: Revision = SHAKING,
    transport: Transport = Transport.HTTP,
    fault: dict[str, Any] | None = None,
    limit: float = LIMIT,
    **brief: Any,
) -> Visited:
    recorder = Recorder(Header(revision.date, transport, "guest", "test", "", role="client"))
    hosting = ClientStage(recorder, revision, transport)
    saboteur = None if fault is None else ClientSaboteur("test", "a fault", "none", **fault)
    await hosting.open()
    try:
        prepare(hosting)
        context = Brief(steps=steps, **brief).context
        invitation = Invitation("test", revision.date, context, hosting.url, hosting.command)
        ended = await InProcessClient(saboteur, transport, patience=5.0).run(invitation, limit)
    finally:
        await hosting.close()
    return Visited(ended, recorder.trace(closed=True))
