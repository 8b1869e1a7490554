"""What is wrong, in words, as an observation."""

from __future__ import annotations

from collections.abc import Iterable

from assay.lab.harness.verdict import Evidence, Observation, observe


def judged(row: str, faults: Iterable[str], *evidence: Evidence, expected: str) -> Observation:
    """An observation that holds where nothing is wrong."""
    found = list(faults)
    return observe(row, not found, *evidence, expected=expected, observed="; ".join(found))
