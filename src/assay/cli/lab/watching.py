"""`--watch`: after every change the subject starts anew, and what failed last is played first."""

from __future__ import annotations

import argparse
import asyncio

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.suite import FUZZ

from .extra import check_extra
from .judging import Play, stop_on_request
from .rounds import Rounds


async def watch(play: Play, options: argparse.Namespace) -> int:
    """Ends only by a fault, or when it is interrupted."""
    from .changes import Changes  # needs the library

    rounds = Rounds(play, options)
    changes = Changes(options.watch, options.output)
    stop_on_request()
    try:
        async with asyncio.TaskGroup() as group:
            changes.follow(group)
            what = ""
            while True:
                changes.forget()
                what = await rounds.play_until(changes.next, what)
    except asyncio.CancelledError:
        return ExitCode.INTERRUPTED
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from faults  # the first ends it all


def check_watchable(options: argparse.Namespace) -> None:
    check_extra("watchfiles")
    if options.suite == FUZZ:
        problem = "--watch plays scenarios, and --suite fuzz has none"
        raise CommandFailed(ExitCode.USAGE, problem, "leave one of them out")
    if options.record_golden or options.against_golden:
        problem = "--watch plays again and again, and a golden run is one run"
        raise CommandFailed(ExitCode.USAGE, problem, "leave one of them out")
    for path in options.watch:
        if not path.exists():
            hint = "--watch takes a file or a directory"
            raise CommandFailed(ExitCode.USAGE, f"nothing to watch at {path}", hint)
