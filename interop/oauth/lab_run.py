"""The lab on a protected server: tokens from every source, reports in every format."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from assay.lab.report.registry import formats
from interop.child_process import child
from interop.oauth.environment import ASSAY, OAuthEnvironment
from interop.official import Aborted, Exit, judge
from interop.official_authority import RUN, run_suite

RUN_TIMEOUT = 300.0
# Exit codes after a complete run: the server conforms, or it does not.
JUDGED = (0, 1)
REFUSED = (3,)
QUICK = ("--spec-version", "2025-11-25", "--scenario", "auth*", "--scenario", "tools-list*")
SHORT_FUZZ = ("--suite", "fuzz", "--seconds", "3", "--seed", "8")
# All formats in one process, because most of the time is the start.
REPORTS = """
import logging, sys
from assay.cli.main import main
logging.basicConfig(level=logging.DEBUG)
run, *formats = sys.argv[1:]
sys.exit(max(main(["report", run, "--format", f, "--output", f"{run}.{f}"]) for f in formats))
"""


@dataclass(frozen=True)
class LabRun:
    """One run of the lab: name, server, options, and accepted exit codes."""

    name: str
    url: str
    options: tuple[str, ...]
    codes: tuple[int, ...] = JUDGED


async def mint(environment: OAuthEnvironment, **options: object) -> str:
    """A token that lasts for a run, or an invalid one."""
    request = {"audience": environment.reference, "scopes": ["use"], "lifetime": 600, **options}
    async with httpx2.AsyncClient() as http:
        answer = await http.post(f"{environment.issuer}/dev/mint", json=request)
    return str(answer.raise_for_status().json()["access_token"])


async def lab_runs(environment: OAuthEnvironment, quick: bool) -> list[LabRun]:
    good, late = await mint(environment), await mint(environment, fault="expired-token")
    http = environment.reference
    refused = LabRun("refused", http, ("--bearer", late), REFUSED)
    bearer = LabRun("bearer", http, ("--bearer", good, "--bearer-expired", late, *QUICK))
    if quick:
        return [refused, bearer]
    return [
        refused,
        bearer,
        LabRun("authority", http, ("--authority", environment.issuer)),
        LabRun("header", http, ("--header", f"Authorization: Bearer {good}", *QUICK)),
        LabRun("websocket", f"{http.replace('http', 'ws', 1)}/ws", ("--bearer", good, *QUICK)),
        LabRun("fuzz", http, (*SHORT_FUZZ, "--bearer", good)),
    ]


async def judge_all(environment: OAuthEnvironment, quick: bool, node: Path | None) -> list[str]:
    """Run the lab and write its reports in all formats; return what failed."""
    problems = [] if node is None else await asyncio.to_thread(judge_authority, environment, node)
    for lab_run in await lab_runs(environment, quick):
        directory = environment.directory / f"lab-{lab_run.name}"
        directory.mkdir()
        command = (*ASSAY, "server", "--url", lab_run.url, "--output", str(directory), *lab_run.options)
        code = await run_logged(directory, "server", command)
        if code not in lab_run.codes:
            problems.append(f"the lab's run {lab_run.name} ended with code {code}")
        problems += [f"{lab_run.name}: {problem}" for problem in await report_all(directory)]
    return problems


async def report_all(directory: Path) -> list[str]:
    problems = []
    for run_file in directory.glob("run-*/run.json"):
        if code := await run_logged(
            directory, "reports", (sys.executable, "-c", REPORTS, str(run_file), *formats())
        ):
            problems.append(f"the reports ended with code {code}")
    return problems


async def run_logged(directory: Path, name: str, command: Sequence[str]) -> int:
    """Run a command with its output in the directory; return its exit code.

    Raises:
        Aborted: a time-out.
    """
    async with child(command, directory / f"{name}.err") as process:
        assert process.stdout is not None
        try:
            async with asyncio.timeout(RUN_TIMEOUT):
                (directory / f"{name}.out").write_bytes(await process.stdout.read())
                return await process.wait()
        except TimeoutError:
            problem = f"{directory.name}: {name} did not end within {RUN_TIMEOUT:.0f} s"
            raise Aborted(Exit.COULD_NOT_RUN, problem) from None


def judge_authority(environment: OAuthEnvironment, node: Path) -> list[str]:
    """Run the official suite's scenarios for authorization servers. Its results contain the code that it
    used, so they are stored outside the searched directory."""
    with TemporaryDirectory() as directory:
        tallies = run_suite(node, environment.issuer, Path(directory))
    return [f"official suite: {fault}" for fault in judge(RUN, tallies)]
