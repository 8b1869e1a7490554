"""Verify a bundle of evidence offline, with keys that the verifier brings."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from assay.certify.bundle.layout import RUN
from assay.certify.extra import require_certify, require_verify
from assay.certify.options import VerifyOptions
from assay.lab.error import CannotJudge, InvalidOptions
from assay.lab.harness.run.run import parse_run
from assay.signing.dsse import Role, Trust
from assay.signing.keys import BadKey, read_public_key

from .procedure import CannotRead, Status, Step, VerificationReport
from .procedure import verify as run_steps

T = TypeVar("T")


async def verify(bundle: Path, options: VerifyOptions) -> VerificationReport:
    """Verify the bundle in a directory.

    Raises:
        InvalidOptions: a file is not a public key.
        CannotJudge: the bundle cannot be read.
        MissingExtra: a library is not installed.
    """
    (require_certify if options.rejudge or options.against else require_verify)()
    report = await _in_thread(lambda: _verify(bundle, options))
    if options.against is None or not report.ok:
        return report
    return await _with_live_server(bundle, options.against, options, report)


async def _with_live_server(
    bundle: Path, target: str, options: VerifyOptions, report: VerificationReport
) -> VerificationReport:
    """Add a step that compares a live server with the one that was judged."""
    from .live_definitions import changed_definitions

    stored = parse_run((bundle / RUN).read_bytes(), RUN)
    changes = await changed_definitions(stored, target, options.access, options.timeout)
    status = Status.REFUSED if changes else Status.GOOD
    note = f"definitions that changed: {len(changes)}" if changes else f"{target} lists what was judged"
    step = Step("against", status, note)
    return replace(report, steps=(*report.steps, step), refusals=(*report.refusals, *changes))


async def _in_thread(work: Callable[[], T]) -> T:
    """Unlike `asyncio.to_thread`, cancellation does not wait: nothing is lost by abandoning a reader."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def settle(action: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nothing waits any more
            loop.call_soon_threadsafe(lambda: None if outcome.done() else action())

    def run() -> None:
        try:
            value = work()
        except BaseException as error:
            reason = error
            settle(lambda: outcome.set_exception(reason))
        else:
            settle(lambda: outcome.set_result(value))

    threading.Thread(target=run, daemon=True).start()
    return await outcome


def _verify(bundle: Path, options: VerifyOptions) -> VerificationReport:
    try:
        return run_steps(
            bundle,
            _trust(options),
            now=options.now or datetime.now(UTC),
            max_age=options.max_age,
            artifact=options.artifact,
            rejudge=options.rejudge,
        )
    except CannotRead as error:
        raise CannotJudge(str(error)) from error


def _trust(options: VerifyOptions) -> Trust:
    keys = [(path, Role.DEVELOPER) for path in options.trust]
    keys += [(path, Role.HARNESS) for path in options.trust_harness]
    try:
        return Trust([(read_public_key(path), role) for path, role in keys])
    except BadKey as error:
        raise InvalidOptions(str(error)) from error
