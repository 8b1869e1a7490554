"""The official suite's complaints about a saboteur in front of the everything server, stored for reuse."""

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
from interop.child_process import child, http_server
from interop.kill_rate.fault_activity import HOOKS, Activity, observed
from interop.official import PACKAGE, SERVER, Tally

LIMIT = 90.0
"""Seconds for all scenarios (4 with a healthy server); complaints until then count."""
HEALTHY_TIMES = 3
SAVED = re.compile(r"Results saved to (.+/server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z)")
FAILURE = "FAILURE"


class SuiteReport(Struct, frozen=True):
    """The official suite's complaints about one server."""

    complaints: dict[str, list[str]]
    """By scenario: `FAILURE check`, `WARNING check`."""
    finished: bool
    """Whether all scenarios ran, without an early end at a FAILURE or a time-out."""
    acted: bool
    seconds: float
    failed_to_apply: bool = False
    key: str = ""

    def beyond(self, usual: "SuiteReport") -> list[str]:
        """Complaints that the healthy server does not get, as `FAILURE scenario check`."""
        complaints = [
            f"{status} {name} {check}"
            for name, complaints in self.complaints.items()
            for status, _, check in (complaint.partition(" ") for complaint in complaints)
            if f"{status} {check}" not in usual.complaints.get(name, ())
        ]
        silent = sorted(set(usual.complaints) - set(self.complaints)) if self.finished else []
        return complaints + [f"{FAILURE} {name} (no checks)" for name in silent]


class OfficialSuite:
    """Runs the official suite on saboteurs and stores its reports."""

    def __init__(self, node: Path, results: Path) -> None:
        self._node = node
        self._results = results
        self._usual: dict[tuple[Revision, str], SuiteReport] = {}

    async def prepare(self, revision: Revision, double: Double | None) -> None:
        """Run it on the healthy server, several times because some complaints are random."""
        place = revision, _named(double)
        if place in self._usual:
            return
        healthy = msgspec.structs.replace(HEALTHY, double=double)
        names = [f"healthy{_named(double)}-{number}" for number in range(HEALTHY_TIMES)]
        reports = [await self._stored(healthy, revision, name, None) for name in names]
        scenarios = set.intersection(*(set(report.complaints) for report in reports))
        complaints = {
            scenario: [complaint for report in reports for complaint in report.complaints[scenario]]
            for scenario in sorted(scenarios)
        }
        self._usual[place] = msgspec.structs.replace(reports[0], complaints=complaints)

    async def judge(self, saboteur: Saboteur, revision: Revision, name: str) -> tuple[SuiteReport, list[str]]:
        """The report, and the complaints that the healthy server does not get."""
        usual = self._usual[revision, _named(saboteur.double)]
        report = await self._stored(saboteur, revision, name, usual)
        unusual = report.beyond(usual)
        if unusual:  # a slow machine also causes complaints, so they must be repeatable
            unusual = (await self._stored(saboteur, revision, f"{name}-again", usual)).beyond(usual)
        return report, unusual

    async def _stored(
        self, saboteur: Saboteur, revision: Revision, name: str, usual: SuiteReport | None
    ) -> SuiteReport:
        folder = self._results / f"{name}@{revision}"
        file, key = folder / "heard.json", key_of(saboteur)
        if file.is_file():
            report = msgspec.json.decode(file.read_bytes(), type=SuiteReport)
            if report.key == key:
                return report
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        report = msgspec.structs.replace(await self._run(saboteur, revision, folder, usual), key=key)
        file.write_bytes(msgspec.json.encode(report))
        return report

    async def _run(
        self, saboteur: Saboteur, revision: Revision, folder: Path, usual: SuiteReport | None
    ) -> SuiteReport:
        activity, begin = Activity(), time.monotonic()
        faulty = observed(saboteur, activity)
        faulty = faulty if faulty.double is None else doubled(faulty, faulty.double)
        async with http_server(SERVER, folder / "server.log") as healthy:
            front = HttpSaboteur(faulty, healthy, revision)
            await front.start()
            try:
                command = self._command(front.name, saboteur, revision, folder)
                async with child(command, folder / "suite.err") as process:
                    complaints, finished = await read_complaints(process, usual)
            finally:
                await front.stop()
        seconds = round(time.monotonic() - begin, 1)
        return SuiteReport(complaints, finished, activity.acted, seconds, activity.failed_to_apply)

    def _command(self, url: str, saboteur: Saboteur, revision: Revision, folder: Path) -> tuple[str, ...]:
        suite = (str(self._node), str(PACKAGE / "dist" / "index.js"), "server", "--url", url)
        # Doubles implement extensions, which belong to no revision.
        where = ("--spec-version", revision.date) if saboteur.double is None else ()
        return (*suite, "--suite", "all", *where, "--output-dir", str(folder))


def _named(double: Double | None) -> str:
    return "" if double is None else f"-{double.name}"


async def read_complaints(process: Process, usual: SuiteReport | None) -> tuple[dict[str, list[str]], bool]:
    """Read the complaints of each scenario as it ends; with `usual`, stop at the first unusual FAILURE.

    The suite's exit code is not reliable: see `interop/official.py`.
    """
    assert process.stdout is not None
    complaints: dict[str, list[str]] = {}
    try:
        async with asyncio.timeout(LIMIT):
            async for line in process.stdout:
                if saved := SAVED.search(line.decode(errors="replace")):
                    found_here = complaints_of(json.loads((Path(saved[1]) / "checks.json").read_bytes()))
                    complaints[saved[2]] = found_here
                    if usual is not None and has_failure(found_here, usual.complaints.get(saved[2], ())):
                        return complaints, False
    except TimeoutError:
        return complaints, False
    return complaints, True


def has_failure(complaints: Iterable[str], known: Sequence[str]) -> bool:
    return any(complaint.startswith(FAILURE) and complaint not in known for complaint in complaints)


def complaints_of(checks: Iterable[dict[str, object]]) -> list[str]:
    tally = Tally()
    for check in checks:
        tally.add(check)
    return sorted({complaint.partition(": ")[0] for complaint in tally.complaints})


def key_of(saboteur: Saboteur) -> str:
    """A hash that changes with the saboteur or the suite."""
    hooks = [getattr(saboteur, name) for name in HOOKS if getattr(saboteur, name) is not None]
    if saboteur.double is not None:
        hooks += [saboteur.double.request, saboteur.double.reply]
    files = sorted({inspect.getfile(hook) for hook in hooks})
    version = (PACKAGE / "package.json").read_bytes()
    sources = [Path(file).read_bytes() for file in files]
    return hashlib.sha256(b"\0".join((version, *sources))).hexdigest()[:16]
