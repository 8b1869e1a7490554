"""Certify the reference server through the command line and verify the bundle without a network."""

import asyncio
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.certify import profile_list, summary
from assay.certify.profile_list import Demand, MeasuredBy
from assay.certify.providers import providers
from assay.certify.scoring import Measure, Score
from assay.certify.summary_form import Summary
from assay.lab.harness.verdict import Verdict
from assay.model.version import VERSION
from interop.certified.workspace import (
    ASSAY,
    EDITION,
    NEWEST,
    SERVER,
    ProtectedEndpoint,
    Workspace,
    protected,
)
from interop.child_process import child
from interop.official import Aborted, Exit, tail

STDIO = "stdio"
HTTP = "http"
LIMIT = 900.0
"""Seconds for one command."""
# Both verifiers run in a namespace without a network.
OFFLINE = ("unshare", "--net", "--map-root-user")
BENCHMARK = "BENCH-"
SECOND_VERIFIER = Path(__file__).parents[2] / "contrib" / "verify_bundle.py"
CERTIFIED = (0, 1, 3)
"""Exit codes of `assay certify` after a complete run."""


@dataclass(frozen=True)
class Proof:
    transport: str
    summary: Summary
    seconds: float
    verified: tuple[str, ...]
    """The last line of each verifier."""
    breaches: tuple[str, ...] = field(default=())

    @property
    def holds(self) -> bool:
        return not self.breaches

    @property
    def is_only_slow(self) -> bool:
        """Whether benchmarks alone missed their limits, or could not be measured."""
        return not self.holds and all(f": {BENCHMARK}" in breach for breach in self.breaches)


async def prove(workspace: Workspace, transport: str) -> Proof:
    """
    Raises:
        Aborted: a command failed.
    """
    workspace.prepare()
    await run_command(
        (*ASSAY, "keygen", str(workspace.key.with_suffix(""))), workspace.directory / "keygen.log"
    )
    if transport == STDIO:
        return await certify(workspace, STDIO, ("--stdio", shlex.join(workspace.command())), ())
    async with protected(workspace) as server:
        return await certify(workspace, HTTP, server.options, span_options(server))


def span_options(server: ProtectedEndpoint) -> tuple[str, ...]:
    # `assay certify` did not start this server, so it cannot know its Python environment.
    return ("--otlp", server.otlp, "--python", sys.executable)


async def certify(workspace: Workspace, transport: str, target: Sequence[str], more: Sequence[str]) -> Proof:
    registry, badge = workspace.directory / "server.json", workspace.directory / "badge.json"
    about = ("--server-version", VERSION)
    modes = ("--auth-mode", "mtls") if transport == HTTP else ()
    build = (*ASSAY, "registry", "build", *target, "--name", SERVER, *about, *modes, "-o", str(registry))
    await run_command(("env", workspace.state, *build), workspace.directory / "registry.log")
    began = time.monotonic()
    workspace.attest()
    command = (
        *(*ASSAY, "certify", *target, *more, "--profile", EDITION, "--scope", transport),
        *("--server", SERVER, *about, "--allow-effects", *measuring(transport, quick=workspace.quick)),
        *("--registry", str(registry), "--observe", str(workspace.folder), "--osv", str(workspace.export)),
        *("--artifact", str(workspace.artifact), "--attestation", str(workspace.attestation)),
        *("--key", str(workspace.key), "--out", str(workspace.evidence), "--badge-out", str(badge)),
        *(word for date in NEWEST if workspace.quick for word in ("--spec-version", date)),
    )
    output, _ = await run_command(command, workspace.directory / "certify.log", CERTIFIED)
    seconds = time.monotonic() - began
    document = summary.read(output)
    if badge.read_bytes() != (workspace.evidence / "badge.json").read_bytes():
        raise Aborted(Exit.DOES_NOT_CONFORM, f"{badge} is not the badge of the bundle")
    verified = await asyncio.gather(*(verdict_of(workspace, verifier) for verifier in verifiers(workspace)))
    refused = [f"refused: {line}" for line, accepted in verified if not accepted]
    breaches = (*breaches_of(document, transport), *refused)
    return Proof(transport, document, seconds, tuple(line for line, _ in verified), breaches)


def measuring(transport: str, *, quick: bool) -> Iterator[str]:
    """The options for what has a provider on this transport."""
    flags = {
        "CONF-TPT-01.stdio.no-network": ("--sandbox",),
        "CONF-EVD-06.replay": ("--replay",),
        "BENCH-STDIO-02": ("--bench", "quick" if quick else "full"),
        "BENCH-SSE-01": ("--bench", "quick" if quick else "full"),
    }
    demands = {demand.id: demand for demand in profile_list.shipped(EDITION).demands}
    for name, words in flags.items():
        if demands[name].is_within([transport]) and has_provider(name):
            yield from words


def has_provider(demand: str) -> bool:
    return any(demand in provider.demands for provider in providers())


def verifiers(workspace: Workspace) -> Iterator[tuple[str, ...]]:
    if shutil.which(OFFLINE[0]) is None:
        raise Aborted(Exit.COULD_NOT_RUN, f"{OFFLINE[0]} is missing: it is in the Debian package util-linux")
    bundle, key = str(workspace.evidence), str(workspace.public)
    yield (*OFFLINE, *ASSAY, "verify", bundle, "--trust", key, "--rejudge")
    yield (*OFFLINE, sys.executable, str(SECOND_VERIFIER), bundle, key)


async def verdict_of(workspace: Workspace, command: Sequence[str]) -> tuple[str, bool]:
    log = workspace.directory / f"{'second' if str(SECOND_VERIFIER) in command else 'verify'}.log"
    output, code = await run_command(command, log, (0, 1))
    lines = output.decode().splitlines()
    if not lines:  # not even a refusal: the namespace is not permitted, or the verifier crashed
        raise Aborted(Exit.COULD_NOT_RUN, f"no verdict from {shlex.join(command)}\n{tail(log)}".rstrip())
    return lines[-1], code == 0


def breaches_of(document: Summary, transport: str) -> Iterator[str]:
    """Scored demands that are not met, or not measured although they could be."""
    demands = {demand.id: demand for demand in profile_list.shipped(document.profile.id).demands}
    for score in document.checks:
        if not score.scored:
            continue
        if score.measure is Measure.MEASURED and score.status is not Verdict.SUCCESS:
            yield f"{score.status}: {score.id}: {first_finding(score)}"
        elif score.measure is not Measure.MEASURED and can_be_measured(demands[score.id], transport):
            yield f"{score.measure}: {score.id}: {score.reason}"


def can_be_measured(demand: Demand, transport: str) -> bool:
    if demand.by is MeasuredBy.MEASUREMENT and not has_provider(demand.id):
        return False
    return demand.by is not MeasuredBy.LATER and demand.is_within([transport])


def first_finding(score: Score) -> str:
    if not score.findings:
        return score.reason
    broken = score.findings[0]
    where = f"{broken.scenario} at {broken.protocol_version}"
    return f"{where}: expected {broken.expected}, observed {broken.observed} ({', '.join(broken.frames)})"


async def run_command(command: Sequence[str], log: Path, codes: Sequence[int] = (0,)) -> tuple[bytes, int]:
    """Run a command with its standard error in a file; return its output and exit code.

    Raises:
        Aborted: another exit code, or a time-out.
    """
    async with child(command, log) as process:
        try:
            output, _ = await asyncio.wait_for(process.communicate(), LIMIT)
        except TimeoutError:
            raise Aborted(
                Exit.COULD_NOT_RUN, f"time-out after {LIMIT:.0f} s: {shlex.join(command)}"
            ) from None
    code = process.returncode
    if code is None or code not in codes:
        problem = f"exit code {code}: {shlex.join(command)}\n{output.decode(errors='replace')}{tail(log)}"
        raise Aborted(Exit.COULD_NOT_RUN, problem.rstrip())
    return output, code
