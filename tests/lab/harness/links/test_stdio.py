"""Processes that are asked to end: by the end of their input, or by a signal."""

import sys

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.links.stdio import TERMINATED
from assay.lab.harness.run.recording import Conditions, Recording, play
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
        await peer.hear("ready")
        return await peer.stdio.terminate(patience)

    subject, revision = CommandSubject((sys.executable, "-c", program)), HANDSHAKE[-1]
    return await play("end", subject, revision, ask, Facts(revision.date), Conditions())


async def test_process_that_was_asked_to_end_tells_its_status() -> None:
    played = await terminated(SLEEPER, 10.0)
    exits = [frame.info["status"] for frame in played.trace.frames if frame.kind is Kind.EXIT]
    assert (played.value, exits) == (-15, [-15])


async def test_process_that_does_not_let_itself_be_asked_is_told_of() -> None:
    played = await terminated(DEAF, 0.01)
    assert played.value is None
    assert any(played.trace.marks(TERMINATED))
