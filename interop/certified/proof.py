"""Certify the reference server as a user would, verify the bundle without a network, and say what is left."""

import asyncio
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.certify import profile_list, summary
from assay.certify.profile_list import By, Demand
from assay.certify.scoring import Measure, Score
from assay.certify.summary_form import Summary
from assay.lab.harness.verdict import Verdict
from assay.model.version import VERSION
from interop.certified.scene import ASSAY, NEWEST, SERVER, Protected, Scene, protected
from interop.children import child
from interop.official import Aborted, Exit, tail

STDIO = "stdio"
HTTP = "http"
LIMIT = 900.0
"""Seconds for one command."""
# Neither verifier may need a network: it is taken away from them.
ALONE = ("unshare", "--net", "--map-root-user")
SECOND = Path(__file__).parents[2] / "contrib" / "verify_bundle.py"
CERTIFIED = (0, 1, 3)
"""How `assay certify` ends when it has judged."""


@dataclass(frozen=True)
class Proof:
    transport: str
    summary: Summary
    seconds: float
    verified: tuple[str, ...]
    """What the verifiers say last."""
    breaches: tuple[str, ...] = field(default=())

    @property
    def holds(self) -> bool:
        return not self.breaches


async def prove(scene: Scene, transport: str) -> Proof:
    """
    Raises:
        Aborted: a command did not do its work.
    """
    scene.prepare()
    await done((*ASSAY, "keygen", str(scene.key.with_suffix(""))), scene.directory / "keygen.log")
    if transport == STDIO:
        return await judged(scene, STDIO, ("--stdio", shlex.join(scene.served("--telemetry"))), ())
    async with protected(scene) as server:
        return await judged(scene, HTTP, server.reached, spans(server))


def spans(server: Protected) -> tuple[str, ...]:
    # A server that somebody else has started does not tell us what runs it.
    return ("--otlp", server.otlp, "--python", sys.executable)


async def judged(scene: Scene, transport: str, reached: Sequence[str], more: Sequence[str]) -> Proof:
    registry, badge = scene.directory / "server.json", scene.directory / "badge.json"
    about = ("--server-version", VERSION)
    modes = ("--auth-mode", "mtls") if transport == HTTP else ()
    build = (*ASSAY, "registry", "build", *reached, "--name", SERVER, *about, *modes, "-o", str(registry))
    await done(build, scene.directory / "registry.log")
    began = time.monotonic()
    command = (
        *(*ASSAY, "certify", *reached, *more, "--server", SERVER, *about, "--allow-effects"),
        *("--registry", str(registry), "--observe", str(scene.folder), "--osv", str(scene.export)),
        *("--key", str(scene.key), "--out", str(scene.evidence), "--badge-out", str(badge)),
        *(word for date in NEWEST if scene.quick for word in ("--spec-version", date)),
    )
    written, _ = await done(command, scene.directory / "certify.log", CERTIFIED)
    seconds = time.monotonic() - began
    found = summary.read(written)
    if badge.read_bytes() != (scene.evidence / "badge.json").read_bytes():
        raise Aborted(Exit.DOES_NOT_CONFORM, f"{badge} is not the badge of the bundle")
    verified = await asyncio.gather(*(verdict_of(scene, one) for one in verifiers(scene)))
    refused = [f"refused: {said}" for said, good in verified if not good]
    breaches = (*breaches_of(found, transport), *refused)
    return Proof(transport, found, seconds, tuple(said for said, _ in verified), breaches)


def verifiers(scene: Scene) -> Iterator[tuple[str, ...]]:
    if shutil.which(ALONE[0]) is None:
        raise Aborted(Exit.COULD_NOT_RUN, f"{ALONE[0]} is missing: it is in the Debian package util-linux")
    bundle, key = str(scene.evidence), str(scene.public)
    yield (*ALONE, *ASSAY, "verify", bundle, "--trust", key, "--rejudge")
    yield (*ALONE, sys.executable, str(SECOND), bundle, key)


async def verdict_of(scene: Scene, command: Sequence[str]) -> tuple[str, bool]:
    log = scene.directory / f"{'second' if str(SECOND) in command else 'verify'}.log"
    said, code = await done(command, log, (0, 1))
    lines = said.decode().splitlines()
    if not lines:  # not even a refusal: there is no such namespace for us, or the verifier broke
        raise Aborted(Exit.COULD_NOT_RUN, f"no verdict of {shlex.join(command)}\n{tail(log)}".rstrip())
    return lines[-1], code == 0


def breaches_of(found: Summary, transport: str) -> Iterator[str]:
    """What must not be: a scored demand that is not met, or not measured without need."""
    demands = {one.id: one for one in profile_list.shipped(found.profile.id).demands}
    for one in found.checks:
        if not one.scored:
            continue
        if one.measure is Measure.MEASURED and one.status is not Verdict.SUCCESS:
            yield f"{one.status}: {one.id}: {first_of(one)}"
        elif one.measure is not Measure.MEASURED and not is_out_of_reach(demands[one.id], transport):
            yield f"{one.measure}: {one.id}: {one.reason}"


def is_out_of_reach(demand: Demand, transport: str) -> bool:
    """Whether nobody can measure it yet, or not on this transport."""
    return demand.by is By.LATER or (bool(demand.transports) and transport not in demand.transports)


def first_of(one: Score) -> str:
    if not one.findings:
        return one.reason
    broken = one.findings[0]
    where = f"{broken.scenario} at {broken.protocol_version}"
    return f"{where}: expected {broken.expected}, observed {broken.observed} ({', '.join(broken.frames)})"


async def done(command: Sequence[str], log: Path, codes: Sequence[int] = (0,)) -> tuple[bytes, int]:
    """Run a command to its end, its standard error in a file; give what it wrote, and its exit code.

    Raises:
        Aborted: it ended otherwise, or not at all.
    """
    async with child(command, log) as process:
        try:
            written, _ = await asyncio.wait_for(process.communicate(), LIMIT)
        except TimeoutError:
            raise Aborted(Exit.COULD_NOT_RUN, f"no end after {LIMIT:.0f} s: {shlex.join(command)}") from None
    code = process.returncode
    if code is None or code not in codes:
        problem = f"exit code {code}: {shlex.join(command)}\n{written.decode(errors='replace')}{tail(log)}"
        raise Aborted(Exit.COULD_NOT_RUN, problem.rstrip())
    return written, code
