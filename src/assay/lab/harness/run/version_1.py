"""Stored runs of format 1, and summaries made from them: they give reasons as sentences only.

This is the only module that derives the kind of a reason from its text. The sentences here are those that
Assay wrote then; they never change.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from assay.lab.harness.reason import Reason, ReasonKind, stored
from assay.lab.harness.verdict import CheckResult, Outcome, Verdict

if TYPE_CHECKING:
    from .run import CellResult, Run

FORMAT: Final = 1
_OPTION: Final = re.compile(r"(?<!\S)--?[a-z][a-z-]*")
_NOT_APPLICABLE: Final = "not applicable: "
_NOT_TO_THE_END: Final = "not observed to the end"
_BROKE_OFF: Final = "the scenario broke off"
_INTERRUPTED: Final = "interrupted"
_NOT_SELECTED: Final = ("its scenario is not among those of --scenario", "the server was not judged on ")
_NO_CHECK: Final = ("no scenario was played that shows it", "this version of Assay does not measure it")


def upgraded(run: Run) -> Run:
    """The run with typed reasons; its format is left to the caller."""
    return msgspec.structs.replace(run, cells=[_cell(cell) for cell in run.cells])


def _cell(cell: CellResult) -> CellResult:
    checks = [_check(check) for check in cell.checks]
    return msgspec.structs.replace(cell, checks=checks, **stored(_reason_of_cell(cell)))


def _reason_of_cell(cell: CellResult) -> Reason | None:
    if not cell.reason:
        return None
    if cell.outcome is Outcome.NOT_APPLICABLE:
        return _not_applicable(cell.reason.removeprefix(_NOT_APPLICABLE))
    if cell.broke_off:
        return Reason(ReasonKind.BROKE_OFF, cell.reason)
    if cell.reason == _INTERRUPTED:
        return Reason(ReasonKind.INTERRUPTED, cell.reason)
    unseen = cell.outcome is Outcome.INCOMPLETE
    return Reason(ReasonKind.NOT_OBSERVED if unseen else ReasonKind.SUBJECT_FAILED, cell.reason)


def _not_applicable(text: str) -> Reason:
    options = tuple(_OPTION.findall(text))
    return Reason(ReasonKind.NEEDS_OPTION if options else ReasonKind.NOT_APPLICABLE, text, options)


def _check(check: CheckResult) -> CheckResult:
    if check.verdict is not Verdict.SKIPPED:
        return check
    cut = check.reason.startswith(_NOT_TO_THE_END)
    kind = ReasonKind.BROKE_OFF if cut else ReasonKind.NOT_OBSERVED
    return msgspec.structs.replace(check, **stored(Reason(kind, check.reason)))


def reason_of_demand(text: str, *, applies: bool) -> Reason:
    """Why a summary says that a demand was not measured, or does not apply."""
    options = tuple(_OPTION.findall(text))
    if not applies:
        return Reason(ReasonKind.NOT_APPLICABLE, text)
    if text.startswith(_BROKE_OFF):
        return Reason(ReasonKind.BROKE_OFF, text)
    if text.startswith(_NOT_SELECTED):
        return Reason(ReasonKind.NOT_SELECTED, text, options)
    if text.startswith(_NO_CHECK):
        return Reason(ReasonKind.NO_CHECK, text)
    return Reason(ReasonKind.NEEDS_OPTION if options else ReasonKind.NOT_OBSERVED, text, options)
