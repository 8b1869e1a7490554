"""What is odd or too much is refused or served, once, and is no accident inside the server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import INTERNAL_ERROR

from .jrpc_attempt import Attempt, attempts

EXPECTED: Final = (
    f"one answer, but no error {INTERNAL_ERROR} and no HTTP status from 500; and a server that goes on"
)


def unharmed(trace: Trace, cases: Sequence[str]) -> Iterator[Observation]:
    """Whether the server stood each message of these cases."""
    for attempt in attempts(trace):
        if attempt.case in cases:
            fell = attempt.went_on is False
            observed = f"{attempt}; then {attempt.after}" if fell else f"{attempt}"
            holds = _is_settled(attempt) and not fell
            yield observe(attempt.row, holds, attempt, expected=EXPECTED, observed=observed)


def _is_settled(attempt: Attempt) -> bool:
    """On HTTP a status alone is an answer, too."""
    refused = attempt.status is not None and 400 <= attempt.status < 500
    answered = len(attempt.answers) == 1 or (refused and not attempt.answers)
    sound = all(one.code != INTERNAL_ERROR for one in attempt.answers)
    return answered and sound and (attempt.status is None or attempt.status < 500)
