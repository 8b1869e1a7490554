"""What the official suite says of a saboteur before the everything server: heard once, then kept."""

import asyncio
import hashlib
import inspect
import json
import re
import shutil
import time
from asyncio.subprocess import Process
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from assay.lab.harness.sabotage.doubled import doubled
from assay.lab.harness.sabotage.saboteur import Double, Saboteur
from assay.lab.harness.sabotage.subject import HEALTHY, HttpSaboteur
from assay.revisions.revision import Revision
from interop.children import child, http_server
from interop.kill_rate.noticing import HOOKS, Notice, noticed
from interop.official import PACKAGE, SERVER, Tally

LIMIT = 90.0
"""Seconds for all scenarios, which take 4 with a healthy server; what was found until then counts."""
HEALTHY_TIMES = 3
SAVED = re.compile(r"Results saved to (.+/server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z)")
FAILURE = "FAILURE"


class Heard(Struct, frozen=True):
    """What the official suite said of one server."""

    complaints: dict[str, list[str]]
    """By scenario: `FAILURE check`, `WARNING check`."""
    finished: bool
    """All scenarios were played: neither the first FAILURE nor the clock has ended it."""
    acted: bool
    seconds: float
    stumbled: bool = False
    key: str = ""

    def beyond(self, usual: "Heard") -> list[str]:
        """What is not said of the healthy server, as `FAILURE scenario check`."""
        found = [
            f"{status} {name} {check}"
            for name, complaints in self.complaints.items()
            for status, _, check in (one.partition(" ") for one in complaints)
            if f"{status} {check}" not in usual.complaints.get(name, ())
        ]
        silent = sorted(set(usual.complaints) - set(self.complaints)) if self.finished else []
        return found + [f"{FAILURE} {name} (no checks)" for name in silent]


class Booth:
    """Where the official suite meets saboteurs; what it said of those that were there before is kept."""

    def __init__(self, node: Path, results: Path) -> None:
        self._node = node
        self._results = results
        self._usual: dict[tuple[Revision, str], Heard] = {}

    async def prepare(self, revision: Revision, double: Double | None) -> None:
        """Hear what it says of the healthy server; more than once, since some is said by chance."""
        place = revision, _named(double)
        if place in self._usual:
            return
        healthy = msgspec.structs.replace(HEALTHY, double=double)
        names = [f"healthy{_named(double)}-{number}" for number in range(HEALTHY_TIMES)]
        heard = [await self._kept(healthy, revision, name, None) for name in names]
        scenarios = set.intersection(*(set(one.complaints) for one in heard))
        said = {
            scenario: [complaint for one in heard for complaint in one.complaints[scenario]]
            for scenario in sorted(scenarios)
        }
        self._usual[place] = msgspec.structs.replace(heard[0], complaints=said)

    async def hear(self, saboteur: Saboteur, revision: Revision, name: str) -> tuple[Heard, list[str]]:
        """What it says, and what of that it does not say of the healthy server."""
        usual = self._usual[revision, _named(saboteur.double)]
        heard = await self._kept(saboteur, revision, name, usual)
        bad = heard.beyond(usual)
        if bad:  # a slow machine is complained of, too: who is caught must be caught again
            bad = (await self._kept(saboteur, revision, f"{name}-again", usual)).beyond(usual)
        return heard, bad

    async def _kept(self, saboteur: Saboteur, revision: Revision, name: str, usual: Heard | None) -> Heard:
        folder = self._results / f"{name}@{revision}"
        kept, key = folder / "heard.json", key_of(saboteur)
        if kept.is_file():
            heard = msgspec.json.decode(kept.read_bytes(), type=Heard)
            if heard.key == key:
                return heard
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        heard = msgspec.structs.replace(await self._meet(saboteur, revision, folder, usual), key=key)
        kept.write_bytes(msgspec.json.encode(heard))
        return heard

    async def _meet(self, saboteur: Saboteur, revision: Revision, folder: Path, usual: Heard | None) -> Heard:
        notice, begin = Notice(), time.monotonic()
        faulty = noticed(saboteur, notice)
        faulty = faulty if faulty.double is None else doubled(faulty, faulty.double)
        async with http_server(SERVER, folder / "server.log") as healthy:
            front = HttpSaboteur(faulty, healthy, revision)
            await front.start()
            try:
                command = self._command(front.name, saboteur, revision, folder)
                async with child(command, folder / "suite.err") as process:
                    complaints, finished = await listen(process, usual)
            finally:
                await front.stop()
        seconds = round(time.monotonic() - begin, 1)
        return Heard(complaints, finished, notice.acted, seconds, notice.stumbled)

    def _command(self, url: str, saboteur: Saboteur, revision: Revision, folder: Path) -> tuple[str, ...]:
        suite = (str(self._node), str(PACKAGE / "dist" / "index.js"), "server", "--url", url)
        # Extensions, which doubles stand for, belong to no revision.
        where = ("--spec-version", revision.date) if saboteur.double is None else ()
        return (*suite, "--suite", "all", *where, "--output-dir", str(folder))


def _named(double: Double | None) -> str:
    return "" if double is None else f"-{double.name}"


async def listen(process: Process, usual: Heard | None) -> tuple[dict[str, list[str]], bool]:
    """Read what each scenario found as it comes; with `usual`, only up to the first FAILURE that is not.

    The suite's exit code says nothing: see `interop/official.py`.
    """
    assert process.stdout is not None
    complaints: dict[str, list[str]] = {}
    try:
        async with asyncio.timeout(LIMIT):
            async for line in process.stdout:
                if saved := SAVED.search(line.decode(errors="replace")):
                    found = complained(json.loads((Path(saved[1]) / "checks.json").read_bytes()))
                    complaints[saved[2]] = found
                    if usual is not None and is_caught(found, usual.complaints.get(saved[2], ())):
                        return complaints, False
    except TimeoutError:
        return complaints, False
    return complaints, True


def is_caught(found: Iterable[str], known: Sequence[str]) -> bool:
    return any(one.startswith(FAILURE) and one not in known for one in found)


def complained(checks: Iterable[dict[str, object]]) -> list[str]:
    tally = Tally()
    for check in checks:
        tally.add(check)
    return sorted({complaint.partition(": ")[0] for complaint in tally.complaints})


def key_of(saboteur: Saboteur) -> str:
    """Changes when the saboteur or the suite does."""
    hooks = [getattr(saboteur, name) for name in HOOKS if getattr(saboteur, name) is not None]
    if saboteur.double is not None:
        hooks += [saboteur.double.request, saboteur.double.reply]
    files = sorted({inspect.getfile(hook) for hook in hooks})
    version = (PACKAGE / "package.json").read_bytes()
    sources = [Path(file).read_bytes() for file in files]
    return hashlib.sha256(b"\0".join((version, *sources))).hexdigest()[:16]
