"""The lab on a protected server: tokens from every source it has, reports in every format it has."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from assay.lab.report.registry import formats
from interop.children import child
from interop.oauth.scene import ASSAY, Scene
from interop.official import Aborted, Exit, judge
from interop.official_authority import RUN, run_suite

RUN_TIMEOUT = 300.0
# The lab's word for having judged: the server conforms, or it does not.
JUDGED = (0, 1)
NOT_LET_IN = (3,)
QUICK = ("--spec-version", "2025-11-25", "--scenario", "auth*", "--scenario", "tools-list*")
BRIEFLY = ("--suite", "fuzz", "--seconds", "3", "--seed", "8")
# All formats in one process: most of a report's time is its start.
REPORTS = """
import logging, sys
from assay.cli.main import main
logging.basicConfig(level=logging.DEBUG)
kept, *formats = sys.argv[1:]
sys.exit(max(main(["report", kept, "--format", f, "--output", f"{kept}.{f}"]) for f in formats))
"""


@dataclass(frozen=True)
class Judging:
    """One run of the lab: its name, the server, options, and the exit codes that say that it did its work."""

    name: str
    url: str
    options: tuple[str, ...]
    codes: tuple[int, ...] = JUDGED


async def minted(scene: Scene, **wishes: object) -> str:
    """A token that lasts for a run, or that is not good."""
    wish = {"audience": scene.reference, "scopes": ["use"], "lifetime": 600, **wishes}
    async with httpx2.AsyncClient() as http:
        answer = await http.post(f"{scene.issuer}/dev/mint", json=wish)
    return str(answer.raise_for_status().json()["access_token"])


async def judgings(scene: Scene, quick: bool) -> list[Judging]:
    good, late = await minted(scene), await minted(scene, fault="expired-token")
    http = scene.reference
    refused = Judging("refused", http, ("--bearer", late), NOT_LET_IN)
    bearer = Judging("bearer", http, ("--bearer", good, "--bearer-expired", late, *QUICK))
    if quick:
        return [refused, bearer]
    return [
        refused,
        bearer,
        Judging("authority", http, ("--authority", scene.issuer)),
        Judging("header", http, ("--header", f"Authorization: Bearer {good}", *QUICK)),
        Judging("websocket", f"{http.replace('http', 'ws', 1)}/ws", ("--bearer", good, *QUICK)),
        Judging("fuzz", http, (*BRIEFLY, "--bearer", good)),
    ]


async def judge_all(scene: Scene, quick: bool, node: Path | None) -> list[str]:
    """Run the lab, then show what it kept in all formats; what did not do its work is told."""
    problems = [] if node is None else await asyncio.to_thread(judge_authority, scene, node)
    for judging in await judgings(scene, quick):
        directory = scene.directory / f"lab-{judging.name}"
        directory.mkdir()
        command = (*ASSAY, "server", "--url", judging.url, "--output", str(directory), *judging.options)
        code = await said(directory, "server", command)
        if code not in judging.codes:
            problems.append(f"the lab's run {judging.name} ended with code {code}")
        problems += [f"{judging.name}: {problem}" for problem in await report_all(directory)]
    return problems


async def report_all(directory: Path) -> list[str]:
    problems = []
    for kept in directory.glob("run-*/run.json"):
        if code := await said(directory, "reports", (sys.executable, "-c", REPORTS, str(kept), *formats())):
            problems.append(f"the reports ended with code {code}")
    return problems


async def said(directory: Path, name: str, command: Sequence[str]) -> int:
    """Run a command with everything that it says kept in the directory; its exit code.

    Raises:
        Aborted: it does not end.
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


def judge_authority(scene: Scene, node: Path) -> list[str]:
    """The official suite's scenarios for authorization servers, on the authority of the scene. The suite
    keeps the code that it used in its own results, so those are not among ours."""
    with TemporaryDirectory() as directory:
        tallies = run_suite(node, scene.issuer, Path(directory))
    return [f"official suite: {fault}" for fault in judge(RUN, tallies)]
