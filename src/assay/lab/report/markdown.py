"""A comment for a pull request: what it comes to, a small table, and each finding folded away below it.

What a subject said stands in code spans: there it names nobody, links nowhere and is no markup.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from assay.lab.harness.requirement import Level
from assay.lab.harness.run.baseline import is_expected
from assay.lab.harness.run.conclusion import Conclusion, conclude, headline
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.scenario import Role
from assay.lab.harness.verdict import CheckResult, Finding, Outcome

from .matrix import PASSED, area

LIMIT: Final = 65_000
"""Bytes: GitHub takes comments of 65,536 characters."""
LONGEST: Final = 600
"""Characters of one thing that a subject said."""
COMMAND: Final = 4_000
"""Characters of a line for the shell: nobody copies a longer one out of a comment."""
PLACES: Final = 3
SIGNS: Final = {
    Conclusion.CONFORMS: "✅",
    Conclusion.DOES_NOT_CONFORM: "❌",
    Conclusion.INCOMPLETE: "⚠️",
    Conclusion.INTERRUPTED: "⚠️",
}

Place = tuple[CellResult, CheckResult, Finding]


def render(run: Run) -> str:
    head = [f"## {SIGNS[conclude(run)]} {headline(run)}", *_subjects(run), "\n".join(_table(run))]
    remarks = "\n".join(_remarks(run))
    blocks = [_finding(run, found) for found in _findings(run)]
    return bounded([*head, *([remarks] if remarks else [])], blocks)


# What other pages are made of too.


def bounded(head: Sequence[str], blocks: Sequence[str]) -> str:
    """Paragraphs as long as they fit into a comment, and a word on those that do not."""
    shown: list[str] = []
    room = LIMIT
    for place, block in enumerate((*head, *blocks)):
        room -= len(block.encode("utf-8", "replace")) + 2
        if room < 0:
            shown.append(f"… and {len(head) + len(blocks) - place} more: a comment holds no more than this")
            break
        shown.append(block)
    return "\n\n".join(shown).encode("utf-8", "replace").decode() + "\n"


def code(text: str, longest: int = LONGEST) -> str:
    """Text as a code span, whatever is in it."""
    flat = " ".join(text.split()) or "nothing"
    cut = flat if len(flat) <= longest else f"{flat[:longest]} … ({len(flat)} characters)"
    fence = "`" * (_longest_fence(cut) + 1)
    return f"{fence} {cut} {fence}" if "`" in cut else f"{fence}{cut}{fence}"


def inline(text: str) -> str:
    """Words of ours, as they are: no character of them is markup."""
    flat = " ".join(text.split())
    return "".join(f"\\{one}" if one in r"\*_[]#|~<>&$" else one for one in flat)


def tag(text: str) -> str:
    """Text as code where HTML stands around it and Markdown is not read."""
    return f"<code>{html.escape(' '.join(text.split())[:LONGEST])}</code>"


def details(title: str, lines: Iterable[str], *, is_open: bool = False) -> str:
    """Something to unfold; the title is HTML."""
    return "\n".join(
        (f"<details{' open' if is_open else ''}><summary>{title}</summary>", "", *lines, "", "</details>")
    )


def fenced(text: str) -> Iterator[str]:
    fence = "`" * max(3, _longest_fence(text) + 1)
    yield from (f"{fence}sh", text, fence)


def _longest_fence(text: str) -> int:
    return max((len(run) for run in "".join(one if one == "`" else " " for one in text).split()), default=0)


# The run.


def _subjects(run: Run) -> Iterator[str]:
    told = []
    for subject in run.subjects:
        spoken = ", ".join(facts.revision for facts in subject.facts) or "no revision that was asked for"
        # Clients are not asked what they speak.
        speaks = f": {spoken}" if run.role == Role.SERVER.value else ""
        told.append(f"- {code(subject.name)} on {subject.transport}{speaks}")
    yield from ("\n".join(told),) if told else ()


def _table(run: Run) -> Iterator[str]:
    revisions = sorted({cell.revision for cell in run.cells})
    if not revisions:
        return
    counts: dict[tuple[str, str], Counter[Outcome]] = {}
    for cell in run.cells:
        counts.setdefault((area(cell), cell.revision), Counter())[cell.outcome] += 1
    yield f"| area | {' | '.join(revisions)} |"
    yield f"|---|{'---|' * len(revisions)}"
    for name in sorted({name for name, _ in counts}):
        cells = (_share(counts.get((name, revision), Counter())) for revision in revisions)
        yield f"| {inline(name)} | {' | '.join(cells)} |"


def _share(count: Counter[Outcome]) -> str:
    applying = sum(count.values()) - count[Outcome.NOT_APPLICABLE]
    if not applying:
        return "-"
    if count[Outcome.FAILED]:
        return f"❌ {count[Outcome.FAILED]} of {applying} failed"
    if count[Outcome.INCOMPLETE]:
        return f"⚠️ {count[Outcome.INCOMPLETE]} of {applying} incomplete"
    passed = sum(count[outcome] for outcome in PASSED)
    return f"✅ {passed}{' with warnings' if count[Outcome.WARNED] else ''}"


def _remarks(run: Run) -> Iterator[str]:
    yield from (f"- stale in the baseline: {code(entry)}" for entry in run.stale)
    yield from (f"- flaky: {code(scenario)} on {place} at {date}" for scenario, place, date in run.flaky)
    broken: dict[tuple[str, str], list[str]] = {}
    for cell in run.cells:
        if cell.broke_off:
            broken.setdefault((cell.scenario, cell.reason), []).append(_where(cell))
    yield from (
        f"- broke off: {code(scenario)} ({_named(places)}): {code(reason)}"
        for (scenario, reason), places in broken.items()
    )


def _findings(run: Run) -> list[list[Place]]:
    """Each requirement that a check found broken once, failures first."""
    places: dict[tuple[str, str], list[Place]] = {}
    for cell in run.cells:
        for check in cell.checks:
            for finding in check.findings:
                places.setdefault((check.id, finding.requirement), []).append((cell, check, finding))
    return sorted(places.values(), key=lambda found: not Level(found[0][2].level).binding)


def _finding(run: Run, found: list[Place]) -> str:
    cell, check, finding = found[0]
    verdict = "FAILURE" if Level(finding.level).binding else "WARNING"
    known = " (expected by the baseline)" if is_expected(run, cell, check) else ""
    title = f"<b>{verdict}</b> {tag(finding.requirement)} {html.escape(check.title)}{known}"
    return details(title, _explained(found))


def _explained(found: list[Place]) -> Iterator[str]:
    _, check, finding = found[0]
    row = f"[{inline(finding.requirement)}]({finding.link})" if finding.link else inline(finding.requirement)
    yield f"- {row} ({finding.level}): {inline(finding.statement)}"
    yield f"- check: {code(check.id)}"
    yield f"- expected: {code(finding.expected)}"
    yield f"- observed: {code(finding.observed)}"
    others = dict.fromkeys(other.observed for _, _, other in found if other.observed != finding.observed)
    yield from (f"- also: {code(observed)}" for observed in list(others)[:PLACES])
    yield f"- in: {_named([f'{code(cell.scenario)} ({_where(cell)})' for cell, _, _ in found])}"
    if finding.reproduce and len(finding.reproduce) <= COMMAND:
        yield from ("", *fenced(finding.reproduce))
    elif finding.reproduce:
        yield f"- the line that shows it again is too long to copy: {len(finding.reproduce)} characters"


def _where(cell: CellResult) -> str:
    return f"{cell.transport}, {cell.revision}"


def _named(places: Iterable[str]) -> str:
    once = list(dict.fromkeys(places))
    more = f" and {len(once) - PLACES} more" if len(once) > PLACES else ""
    return f"{', '.join(once[:PLACES])}{more}"
