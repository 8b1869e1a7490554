"""Processes that are asked to exit by a signal."""

import sys

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.links.stdio import TERMINATED
from assay.lab.harness.run.recording import Conditions, Recording, record
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.subject import CommandSubject
from assay.lab.harness.trace.frame import Kind
from assay.revisions.registry import HANDSHAKE

READY = '{"jsonrpc":"2.0","method":"ready"}'
SLEEPER = f"import signal; print({READY!r}, flush=True); signal.pause()"
DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEPER}"


async def terminated(program: str, patience: float) -> Recording:
    async def ask(stage: Stage) -> int | None:
        peer = await stage.connect()
        await peer.wait_for("ready")
        return await peer.stdio.terminate(patience)

    subject, revision = CommandSubject((sys.executable, "-c", program)), HANDSHAKE[-1]
    return await record("end", subject, revision, ask, Facts(revision.date), Conditions())


async def test_exit_status_of_a_terminated_process_is_recorded() -> None:
    recording = await terminated(SLEEPER, 10.0)
    exits = [frame.info["status"] for frame in recording.trace.frames if frame.kind is Kind.EXIT]
    assert (recording.value, exits) == (-15, [-15])


async def test_process_that_ignores_the_signal_has_no_status() -> None:
    recording = await terminated(DEAF, 0.01)
    assert recording.value is None
    assert any(recording.trace.marks(TERMINATED))
