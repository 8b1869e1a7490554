"""The lab on a protected server: tokens from every source it has, reports in every format it has."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import httpx2

from assay.lab.report.registry import formats
from interop.children import child
from interop.oauth.scene import ASSAY, Scene

RUN_TIMEOUT = 300.0
# The lab's word for having judged: the server conforms, or it does not.
JUDGED = (0, 1)
NOT_LET_IN = (4,)
QUICK = ("--spec-version", "2025-11-25", "--scenario", "auth*", "--scenario", "tools-list*")
BRIEFLY = ("--suite", "fuzz", "--seconds", "3", "--seed", "interop")


@dataclass(frozen=True)
class Judging:
    """One run of the lab: its name, its options, and the exit codes that say that it did its work."""

    name: str
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
    narrow = QUICK if quick else ()
    refused = Judging("refused", ("--bearer", late), NOT_LET_IN)
    bearer = Judging("bearer", ("--bearer", good, "--bearer-expired", late, *QUICK))
    authority = Judging("authority", ("--authority", scene.issuer, *narrow))
    header = Judging("header", ("--header", f"Authorization: Bearer {good}", *QUICK))
    fuzz = Judging("fuzz", (*BRIEFLY, "--bearer", good))
    return [refused, bearer] if quick else [refused, bearer, authority, header, fuzz]


async def judge_all(scene: Scene, quick: bool) -> list[str]:
    """Run the lab, then show what it kept in all formats; what did not do its work is told."""
    problems = []
    for judging in await judgings(scene, quick):
        directory = scene.directory / f"lab-{judging.name}"
        directory.mkdir()
        code = await run(directory, "server", "--url", scene.reference, *judging.options)
        if code not in judging.codes:
            problems.append(f"the lab's run {judging.name} ended with code {code}")
        problems += [f"{judging.name}: {problem}" for problem in await report_all(directory)]
    return problems


async def report_all(directory: Path) -> list[str]:
    problems = []
    for kept in directory.glob("run-*/run.json"):
        for name in formats():
            shown = str(directory / f"report.{name}")
            if code := await run(directory, "report", str(kept), "--format", name, "--output", shown):
                problems.append(f"no report as {name}: code {code}")
    return problems


async def run(directory: Path, *words: str) -> int:
    """Run a command of Assay with everything that it says kept in the directory; its exit code."""
    name = f"{words[0]}-{len(list(directory.glob('*.err')))}"
    output = ("--output", str(directory)) if words[0] == "server" else ()
    async with child((*ASSAY, *words, *output), directory / f"{name}.err") as process:
        assert process.stdout is not None
        async with asyncio.timeout(RUN_TIMEOUT):
            (directory / f"{name}.out").write_bytes(await process.stdout.read())
            return await process.wait()
