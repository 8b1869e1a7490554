"""What a check of the protocol suite sees, said under an official id."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from assay.lab.harness import Observation, Trace
from assay.lab.harness.check import Check


def borrow(trace: Trace, row: str, check: Check, *theirs: str) -> Iterator[Observation]:
    """The observations of a check on these rows of its own, as observations on another row."""
    for seen in check.judge(trace):
        if seen.requirement in theirs:
            yield msgspec.structs.replace(seen, requirement=row)
