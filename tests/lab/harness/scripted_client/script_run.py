"""Runs the scripted client against a scripted server that the test prepares."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur
from assay.lab.harness.scripted_client.in_process import InProcessClient
from assay.lab.harness.scripted_server.client import ClientExit, ClientSetup
from assay.lab.harness.scripted_server.client_script import ClientScript
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Header
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Revision

SHAKING, STATELESS = HANDSHAKE[-1], PER_REQUEST[-1]
LIMIT = 20.0


class ScriptRun(Struct, frozen=True):
    exit: ClientExit
    trace: Trace

    @property
    def methods(self) -> list[str]:
        """The methods of the client's requests, in order."""
        return [inquiry.method for inquiry in self.trace.subject_exchanges()]

    @property
    def stderr(self) -> str:
        return self.exit.stderr.decode()


async def run_script(
    *steps: dict[str, Any],
    prepare: Callable[[ClientStage], None] = lambda stage: None,
    revision: Revision = SHAKING,
    transport: Transport = Transport.HTTP,
    fault: dict[str, Any] | None = None,
    limit: float = LIMIT,
    **script: Any,
) -> ScriptRun:
    recorder = Recorder(Header(revision.date, transport, "client", "test", "", role="client"))
    stage = ClientStage(recorder, revision, transport)
    saboteur = None if fault is None else ClientSaboteur("test", "a fault", "none", **fault)
    await stage.open()
    try:
        prepare(stage)
        context = ClientScript(steps=steps, **script).context
        setup = ClientSetup("test", revision.date, context, stage.url, stage.command)
        client_exit = await InProcessClient(saboteur, transport, patience=5.0).run(setup, limit)
    finally:
        await stage.close()
    return ScriptRun(client_exit, recorder.trace(closed=True))
