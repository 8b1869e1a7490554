"""Plain text for terminals and logs: findings in full, everything else in lines.

Prose is wrapped for 80 columns. Commands are not, because they are copied.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final

from assay.lab.harness.run.account import Form, Row, account
from assay.lab.harness.run.conclusion import headline
from assay.lab.harness.run.defect import Defect, defects
from assay.lab.harness.run.history import trend
from assay.lab.harness.run.remark import remarks, unproved
from assay.lab.harness.run.run import Run
from assay.lab.harness.verdict import Verdict

WIDTH: Final = 80
LABEL: Final = 10
LONGEST: Final = 600
"""Characters of a text from a subject."""
FRAME: Final = 2 * WIDTH - 4
"""Characters of a frame: two lines of a terminal."""


def render(run: Run) -> str:
    return "\n".join((*_subjects(run), *_findings(run), *_rest(run), *_end(run))) + "\n"


def _subjects(run: Run) -> Iterator[str]:
    for subject in run.subjects:
        revisions = ", ".join(facts.revision for facts in subject.facts)
        # Discovery is not part of a run that judges stored traces.
        supports = f": supports {revisions or 'no revision'}" if subject.facts or subject.refused else ""
        yield f"{subject.name} on {subject.transport}{supports}"
        for refusal in subject.refused:
            yield f"  not {refusal.revision}: {refusal.reason}"


def _findings(run: Run) -> Iterator[str]:
    for defect in defects(run):
        yield ""
        yield from _finding(defect)


def _finding(defect: Defect) -> Iterator[str]:
    baseline = " (expected by the baseline)" if defect.expected else ""
    title = f"{defect.verdict} {defect.check.id}: {defect.title}{baseline}"
    yield from _lines(title, "", "    ")
    for row in account(defect):
        yield from _row(row)


def _row(row: Row) -> Iterator[str]:
    """Rows without a label show by their form what they are."""
    match row.form:
        case Form.FRAME:
            yield f"  {row.text if len(row.text) <= FRAME else f'{row.text[:FRAME]} …'}"
        case Form.LINK:
            yield f"  {'':<{LABEL}}{row.text}"
        case Form.COMMAND:
            yield f"  {row.label:<{LABEL}}{row.text}"
        case _:
            yield from _wrapped(row.label, row.text)


def _wrapped(label: str, text: str) -> Iterator[str]:
    flat = " ".join(text.split())
    short = flat if len(flat) <= LONGEST else f"{flat[:LONGEST]} … ({len(flat)} characters)"
    indent = " " * (LABEL + 2)
    begin = f"  {label:<{LABEL}}"
    yield from _lines(short, begin, indent) or [begin.rstrip()]


def _lines(text: str, begin: str, indent: str) -> list[str]:
    wrapper = textwrap.TextWrapper(WIDTH, initial_indent=begin, subsequent_indent=indent)
    wrapper.break_long_words = wrapper.break_on_hyphens = False
    return wrapper.wrap(text)


def _rest(run: Run) -> Iterator[str]:
    yield ""
    yield from unproved(run)
    yield from remarks(run)
    yield from trend(run)


def _end(run: Run) -> Iterator[str]:
    checks = [check for cell in run.cells for check in cell.checks]
    numbers = {verdict: sum(check.verdict is verdict for check in checks) for verdict in Verdict}
    counts = ", ".join(f"{number} {verdict}" for verdict, number in numbers.items() if number)
    yield f"{len(run.cells)} scenario runs, {len(checks)} checks: {counts or 'none'}"
    yield f"{headline(run)} ({run.seconds:.1f} s)"
