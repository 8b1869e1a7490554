"""The stored run in a bundle: readable, and with a trace for each verdict."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from assay.certify.bundle.bundle_manifest import parse_moment
from assay.certify.bundle.layout import RUN, RUN_FOLDER
from assay.lab.harness.run.run import BadRun, CellResult, Run, parse_run
from assay.lab.harness.verdict import Outcome

from .refusal import BundleRefused, Refusal, RefusalReason, refuse
from .stored_bundle import SKEW, StoredBundle

TRACE_ENDING: Final = ".ndjson"
MAX_DELAY: Final = timedelta(days=1)
"""The time from the start of a run to its bundle, so that an old run cannot be given a new date."""


def run(bundle: StoredBundle) -> str:
    """
    Raises:
        BundleRefused: the run is missing, invalid, or does not match the traces of the bundle.
    """
    stored = stored_run(bundle)
    refusals = [*_misdated(bundle, stored), *_unproved(bundle, stored), *_unnamed(bundle, stored)]
    if refusals:
        raise BundleRefused(refusals)
    traces = sum(1 for cell in stored.cells if cell.trace)
    return f"{len(stored.cells)} scenario runs by version {stored.assay}, {traces} with a trace"


def stored_run(bundle: StoredBundle) -> Run:
    """
    Raises:
        BundleRefused: the run is missing or invalid.
    """
    try:
        return parse_run(bundle.content(RUN), RUN)
    except BadRun as error:
        raise refuse(RefusalReason.BAD_EVIDENCE, RUN, error) from error


def trace_name(cell: CellResult) -> str:
    """The name of a trace in the bundle; the run names it relative to its own directory."""
    return RUN_FOLDER + cell.trace


def _misdated(bundle: StoredBundle, stored: Run) -> Iterator[Refusal]:
    if stored.interrupted:
        yield Refusal(RefusalReason.BAD_EVIDENCE, RUN, "the run was interrupted")
    if stored.expired:
        yield Refusal(RefusalReason.BAD_EVIDENCE, RUN, "the deadline of the run passed")
    created = bundle.manifest.created
    try:
        age = parse_moment(created) - datetime.fromisoformat(stored.started)
    except (ValueError, TypeError) as error:
        yield Refusal(RefusalReason.BAD_EVIDENCE, RUN, f"its start time is invalid: {error}")
        return
    if not -SKEW <= age <= MAX_DELAY:
        detail = f"it started at {stored.started}, but the bundle was created at {created}"
        yield Refusal(RefusalReason.BAD_EVIDENCE, RUN, detail)


def _unproved(bundle: StoredBundle, stored: Run) -> Iterator[Refusal]:
    """Verdicts without a trace, or with the trace of another result."""
    names: set[str] = set()
    for cell in stored.cells:
        about = f"{' '.join(cell.place)} (attempt {cell.attempt})"
        if not cell.trace:
            if cell.checks or cell.outcome is not Outcome.NOT_APPLICABLE:
                yield Refusal(RefusalReason.MISSING_TRACE, RUN, f"{about} has verdicts, but no trace")
            continue
        name = trace_name(cell)
        if name not in bundle.entries:
            yield Refusal(
                RefusalReason.MISSING_TRACE, RUN, f"{about} names {cell.trace}, which is not in the bundle"
            )
        elif name in names:
            yield Refusal(
                RefusalReason.BAD_EVIDENCE, RUN, f"{about} names {cell.trace}, which another result uses"
            )
        names.add(name)


def _unnamed(bundle: StoredBundle, stored: Run) -> Iterator[Refusal]:
    named = {trace_name(cell) for cell in stored.cells if cell.trace}
    for name in sorted(bundle.entries.keys() - named):
        if name.startswith(RUN_FOLDER) and name.endswith(TRACE_ENDING):
            yield Refusal(RefusalReason.BAD_EVIDENCE, name, "a trace that the run does not name")
