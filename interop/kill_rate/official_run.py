"""What the official suite says of a saboteur before the everything server: heard once, then kept."""

import hashlib
import inspect
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from assay.lab.harness.sabotage.subject import HEALTHY, HttpSaboteur
from assay.lab.harness.saboteur import Saboteur
from assay.revisions.revision import Revision
from interop.children import child, http_server, lines_until_end
from interop.official import PACKAGE, SERVER, read_tallies

from .noticing import HOOKS, Notice, noticed

LIMIT = 90.0
"""Seconds for all scenarios, which take 4 with a healthy server; what was found until then counts."""
MISSING = "FAILURE"
"""How a scenario counts that ends without a word although the healthy server makes it speak."""


class Heard(Struct, frozen=True):
    """What the official suite said of one server."""

    complaints: dict[str, list[str]]
    """By scenario: `FAILURE check`, `WARNING check`."""
    finished: bool
    acted: bool
    seconds: float
    key: str = ""

    def beyond(self, healthy: Sequence["Heard"]) -> list[str]:
        """What is not said of the healthy server."""
        known = {(name, one) for heard in healthy for name, all_ in heard.complaints.items() for one in all_}
        found = [
            f"{one.partition(' ')[0]} {name} {one.partition(' ')[2]}"
            for name, complaints in self.complaints.items()
            for one in complaints
            if (name, one) not in known
        ]
        usual = set.intersection(*(set(heard.complaints) for heard in healthy)) if self.finished else set()
        return found + [f"{MISSING} {name} (no checks)" for name in sorted(usual - set(self.complaints))]


class Booth:
    """Where the official suite listens to saboteurs, with what it said of those that were there before."""

    def __init__(self, node: Path, results: Path) -> None:
        self._node = node
        self._results = results

    async def hear(self, saboteur: Saboteur, revision: Revision, name: str) -> Heard:
        """What the suite says; what it said of the same saboteur before is not asked again."""
        folder = self._results / f"{name}@{revision}"
        kept, key = folder / "heard.json", key_of(saboteur)
        if kept.is_file():
            heard = msgspec.json.decode(kept.read_bytes(), type=Heard)
            if heard.key == key:
                return heard
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        heard = msgspec.structs.replace(await self._listen(saboteur, revision, folder), key=key)
        kept.write_bytes(msgspec.json.encode(heard))
        return heard

    async def _listen(self, saboteur: Saboteur, revision: Revision, folder: Path) -> Heard:
        notice, begin = Notice(), time.monotonic()
        async with http_server(SERVER, folder / "server.log") as healthy:
            front = HttpSaboteur(noticed(saboteur, notice), healthy, revision)
            await front.start()
            try:
                finished = await self._play(front.name, revision, folder)
            finally:
                await front.stop()
        complaints = {
            scenario: sorted({complaint.partition(": ")[0] for complaint in tally.complaints})
            for scenario, tally in read_tallies(folder).items()
        }
        return Heard(complaints, finished, notice.acted, round(time.monotonic() - begin, 1))

    async def _play(self, url: str, revision: Revision, folder: Path) -> bool:
        """Whether it came to its end. Its exit code says nothing: see `interop/official.py`."""
        options = ("--suite", "all", "--spec-version", revision.date, "--output-dir", str(folder))
        command = (str(self._node), str(PACKAGE / "dist" / "index.js"), "server", "--url", url, *options)
        async with child(command, folder / "suite.err") as process:
            lines, _ = await lines_until_end(process, LIMIT)
            (folder / "suite.log").write_text("".join(lines), "utf-8")
            return process.returncode is not None


def key_of(saboteur: Saboteur) -> str:
    """Changes when the saboteur or the suite does."""
    hooks = [getattr(saboteur, name) for name in HOOKS if getattr(saboteur, name) is not None]
    files = sorted({inspect.getfile(hook) for hook in hooks})
    version = (PACKAGE / "package.json").read_bytes()
    sources = [Path(file).read_bytes() for file in files]
    return hashlib.sha256(b"\0".join((version, *sources))).hexdigest()[:16]


async def hear_healthy(booth: Booth, revision: Revision, times: int) -> list[Heard]:
    return [await booth.hear(HEALTHY, revision, f"healthy-{number}") for number in range(times)]
