"""Fuzzing on the terminal: how far it is, then the report and the findings."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Final

from assay.cli.exit_code import CONCLUSIONS
from assay.lab.error import Interrupted
from assay.lab.fuzz.fuzzer import FuzzCounts
from assay.lab.fuzz.session import FuzzResult, FuzzSession
from assay.lab.harness.run.conclusion import conclude
from assay.lab.report.registry import renderer
from assay.model.visible import visible

from .run import on_signal, show_report
from .stream import say

LIVE, PLAIN = 0.2, 10.0
"""Seconds between two lines, on a terminal and elsewhere."""
CLEAR: Final = "\r\x1b[K"
NAMED: Final = 5
"""Tools that are named one by one."""


async def show_fuzz(session: FuzzSession, form: str, export: Path | None, *, one_case: bool) -> int:
    """
    Raises:
        LabError: nothing was judged, or the export cannot be written.
    """
    renderer(form)
    say("one case" if one_case else f"seed {session.seed}")
    with FuzzProgress(sys.stderr) as watch:
        fuzzing = asyncio.create_task(session.run(watch))
        on_signal(fuzzing.cancel)
        await asyncio.wait({fuzzing})
    if fuzzing.cancelled():
        raise Interrupted("interrupted: nothing was judged")
    result = fuzzing.result()
    _summarise(result)
    show_report(result.run, result.path, form)
    if export is not None:
        written = session.export(result, export)
        say(f"exported: {export}" if written else f"no findings, so {export} was not written")
    return CONCLUSIONS[conclude(result.run).value]


def _summarise(result: FuzzResult) -> None:
    """What the stored run does not hold."""
    names = result.skipped
    if names:
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        options = "--allow-effects, --allow-destructive"
        say(f"not called, since they may change something: {', '.join(names[:NAMED])}{more} ({options})")
    for line in result.unconfirmed:
        say(f"observed once and not again: {line}")
    counts = result.counts
    say(f"{counts.cases} conversations, {counts.steps} messages, {findings(len(result.findings))}")


class FuzzProgress:
    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._begin = self._last = time.monotonic()

    def __enter__(self) -> FuzzProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._stream.write(CLEAR)
            self._stream.flush()

    def __call__(self, counts: FuzzCounts) -> None:
        moment = time.monotonic()
        if moment - self._last < (LIVE if self._live else PLAIN):
            return
        self._last = moment
        text = line(counts, moment - self._begin)
        self._stream.write(f"{CLEAR}{text}" if self._live else f"{text}\n")
        self._stream.flush()


def line(counts: FuzzCounts, seconds: float) -> str:
    rate = counts.cases / seconds if seconds else 0.0
    return visible(
        f"{seconds:.0f} s: {counts.cases} conversations ({rate:.0f}/s), {findings(counts.findings)}, "
        f"at {counts.target}"
    )


def findings(count: int) -> str:
    return f"{count} finding{'' if count == 1 else 's'}"
