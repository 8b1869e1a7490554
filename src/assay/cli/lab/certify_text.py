"""The summary of a certification, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import Final

from assay.certify.alike import Alike, alike
from assay.certify.bundle import layout
from assay.certify.remedy import remedy
from assay.certify.scoring import Conclusion, Measure, Score
from assay.certify.summary_form import Summary
from assay.certify.vulnerabilities import report as vulnerabilities
from assay.lab.harness.verdict import Verdict

SHOWN: Final = 3
"""Findings of one demand; all are in the report."""
WIDTH: Final = 110


def told(summary: Summary, out: Path | None) -> str:
    return "\n".join(line for line in _lines(summary, out))


def useless(files: Mapping[str, bytes]) -> Iterator[str]:
    """Waivers that waive nothing were meant otherwise."""
    if layout.VULNERABILITIES in files:
        names = vulnerabilities.useless_waivers(vulnerabilities.read(files[layout.VULNERABILITIES]))
        yield from (f"--waive {name}: nothing of that name was found" for name in names)


def _lines(summary: Summary, out: Path | None) -> Iterator[str]:
    counts = summary.summary
    yield ""
    as_far = " as far as it was measured" if counts.not_measured else ""
    conclusion = f"{summary.conclusion}{as_far if summary.conclusion is Conclusion.MET else ''}"
    yield f"{summary.server.name} {summary.server.version}, {summary.profile.id}: {conclusion}"
    yield (
        f"  scored: {counts.passed} of {counts.scored} met; {counts.warned} warned; "
        f"{counts.not_measured} not measured; {counts.skipped} not applicable"
    )
    yield from (f"  {name:<14}{state}" for name, state in summary.categories.items())
    for one in summary.checks:
        if one.status in (Verdict.FAILURE, Verdict.WARNING):
            yield from _bad(one)
    yield from _unmeasured(summary)
    yield _signed(summary, out)


def _bad(one: Score) -> Iterator[str]:
    mark = one.status if one.scored else f"{one.status} (not scored)"
    yield f"{mark} {one.id}: {one.title}"
    if one.reason:
        yield f"  {one.reason}"
    several = alike(one.findings)
    for found in several[:SHOWN]:
        yield f"  {found.where}: expected {found.first.expected}"
        yield f"    observed {' '.join(found.first.observed.split())}"
        yield f"    {_shown_in(found)}"
    if len(several) > SHOWN:
        yield f"  and {len(several) - SHOWN} more, in the report"
    if hint := remedy(one.id):
        yield f"  to mend it: {hint}"


def _shown_in(found: Alike) -> str:
    first, *others = found.traces or [found.first.scenario]
    return f"{first}, and the like in {len(others)} more" if others else first


def _unmeasured(summary: Summary) -> Iterator[str]:
    """Those with one reason on one line."""
    by_reason: dict[str, list[str]] = {}
    for one in summary.checks:
        if one.measure is Measure.NOT_MEASURED:
            by_reason.setdefault(one.reason, []).append(one.id)
    if by_reason:
        yield "not measured:"
    for reason, names in by_reason.items():
        yield f"  {reason}:"
        yield _wrapped(", ".join(names))


def _wrapped(names: str) -> str:
    """No name is broken: they are looked for, and copied."""
    indent = " " * 4
    return fill(
        names,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _signed(summary: Summary, out: Path | None) -> str:
    if out is None:
        return "no bundle was written: --out DIR does that"
    if summary.attested.developer is None:
        return f"bundle: {out}, not signed: nobody will accept it; --key FILE signs"
    own = ", self-attested" if summary.attested.self_attested else ""
    return f"bundle: {out}, signed with {summary.attested.developer}{own}"
