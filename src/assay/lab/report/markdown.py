"""A pull request comment: the conclusion, a small table, and the findings in collapsed sections.

Text from a subject is in code spans, where it cannot mention users, link or act as markup. Control characters
are already shown: see `registry.py`.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import quote

from assay.lab.harness.run.account import Form, account
from assay.lab.harness.run.conclusion import Conclusion, conclude, headline
from assay.lab.harness.run.defect import Defect, defects
from assay.lab.harness.run.history import trend
from assay.lab.harness.run.remark import remarks, unproved
from assay.lab.harness.run.run import Run
from assay.lab.harness.scenario import Role
from assay.lab.harness.verdict import Outcome

from .matrix import PASSED, area

LIMIT: Final = 65_000
"""Bytes: GitHub limits comments to 65,536 characters."""
LONGEST: Final = 600
"""Characters of one text from a subject."""
COMMAND: Final = 4_000
"""Characters of a shell command; longer ones are not worth copying from a comment."""
UNPROVED: Final = 100
"""Scenarios that are listed as not proved."""
_MARKUP: Final = re.compile(r"[\\*_\[\]#|~<>&$]")
_MARKUP_OR_LINK: Final = re.compile(rf"{_MARKUP.pattern}|`|:(?=//)|(?<=www)\.", re.IGNORECASE)
_SPAN: Final = re.compile(r"(?<!`)(`[^`]+`)(?!`)")
_MENTION: Final = re.compile(r"(?<!\w)@(?=\w)")
SIGNS: Final = {
    Conclusion.CONFORMS: "✅",
    Conclusion.DOES_NOT_CONFORM: "❌",
    Conclusion.INCOMPLETE: "⚠️",
    Conclusion.INTERRUPTED: "⚠️",
}


def render(run: Run) -> str:
    title = f"## {SIGNS[conclude(run)]} {inline(headline(run))}"
    head = [title, *_subjects(run), "\n".join(_table(run))]
    more = [part for part in ("\n".join(_remarks(run)), _unproved(run)) if part]
    return bounded([*head, *more], [_finding(defect) for defect in defects(run)])


# Shared with other pages.


def bounded(head: Sequence[str], blocks: Sequence[str]) -> str:
    """As many paragraphs as fit into a comment, and a note on the rest."""
    paragraphs: list[str] = []
    room = LIMIT
    for number, block in enumerate((*head, *blocks)):
        room -= len(block.encode("utf-8", "replace")) + 2
        if room < 0:
            paragraphs.append(f"… and {len(head) + len(blocks) - number} more: the comment is full")
            break
        paragraphs.append(block)
    return "\n\n".join(paragraphs).encode("utf-8", "replace").decode() + "\n"


def code(text: str, longest: int = LONGEST) -> str:
    """Any text as a code span."""
    flat = " ".join(text.split()) or "nothing"
    cut = flat if len(flat) <= longest else f"{flat[:longest]} … ({len(flat)} characters)"
    fence = "`" * (_longest_fence(cut) + 1)
    return f"{fence} {cut} {fence}" if "`" in cut else f"{fence}{cut}{fence}"


def inline(text: str) -> str:
    """Text with markup escaped, which neither links nor mentions anybody. Names in backticks stay code."""
    parts = _SPAN.split(_unmentioned(" ".join(text.split())))
    return "".join(
        (_MARKUP if number % 2 else _MARKUP_OR_LINK).sub(r"\\\g<0>", part)
        for number, part in enumerate(parts)
    )


def _unmentioned(text: str) -> str:
    return _MENTION.sub(r"\\u0040", text)


def linked(text: str, address: str) -> str:
    """A link with that text; without an address on the web, only the text."""
    if not address.startswith(("https://", "http://")):
        return inline(text)
    return f"[{inline(text)}]({quote(address, safe='/:?#@!$&*+,;=%~')})"


def escaped(text: str) -> str:
    """Text inside HTML, where Markdown is not rendered but users are mentioned."""
    return html.escape(_unmentioned(" ".join(text.split())))


def tag(text: str) -> str:
    """Text as an HTML code element, for places where Markdown is not rendered."""
    return f"<code>{html.escape(' '.join(text.split())[:LONGEST])}</code>"


def details(title: str, lines: Iterable[str], *, is_open: bool = False) -> str:
    """A collapsible section; the title is HTML."""
    return "\n".join(
        (f"<details{' open' if is_open else ''}><summary>{title}</summary>", "", *lines, "", "</details>")
    )


def fenced(text: str, language: str = "sh") -> Iterator[str]:
    fence = "`" * max(3, _longest_fence(text) + 1)
    yield from (f"{fence}{language}", text, fence)


def _longest_fence(text: str) -> int:
    ticks = "".join(char if char == "`" else " " for char in text)
    return max((len(sequence) for sequence in ticks.split()), default=0)


def _subjects(run: Run) -> Iterator[str]:
    lines = []
    for subject in run.subjects:
        revisions = ", ".join(inline(facts.revision) for facts in subject.facts)
        # Clients are not discovered.
        supports = (
            f": {revisions or 'supports no selected revision'}" if run.role == Role.SERVER.value else ""
        )
        lines.append(f"- {code(subject.name)} on {inline(subject.transport)}{supports}")
    yield from ("\n".join(lines),) if lines else ()


def _table(run: Run) -> Iterator[str]:
    revisions = sorted({cell.revision for cell in run.cells})
    if not revisions:
        return
    counts: dict[tuple[str, str], Counter[Outcome]] = {}
    for cell in run.cells:
        counts.setdefault((area(cell), cell.revision), Counter())[cell.outcome] += 1
    yield f"| area | {' | '.join(map(inline, revisions))} |"
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
    yield from (f"- {inline(remark)}" for remark in (*remarks(run), *trend(run)))


def _unproved(run: Run) -> str:
    """Scenarios that proved nothing, collapsed; those that broke off need attention."""
    lines = list(unproved(run))
    is_open = any(cell.broke_off for cell in run.cells)
    title = f"{len(lines)} scenario{'s' * (len(lines) != 1)} proved nothing somewhere"
    return details(title, (f"- {code(line)}" for line in lines[:UNPROVED]), is_open=is_open) if lines else ""


def _finding(defect: Defect) -> str:
    baseline = " (expected by the baseline)" if defect.expected else ""
    requirement = tag(defect.finding.requirement)
    title = f"<b>{defect.verdict}</b> {requirement} {escaped(defect.title)}{baseline}"
    return details(title, _explanation(defect))


def _explanation(defect: Defect) -> Iterator[str]:
    yield f"- check: {code(defect.check.id)}"
    frames = []
    for row in account(defect):
        match row.form:
            case Form.FRAME:
                frames.append(row.text)
            case Form.COMMAND if len(row.text) > COMMAND:
                yield f"- {row.label}: the command is too long to copy: {len(row.text)} characters"
            case Form.COMMAND:
                yield from (f"- {row.label}:", "", *fenced(row.text, "sh"), "")
            case Form.LINK:
                yield f"- {row.label}: {linked(row.text, row.text)}"
            case Form.SUBJECT:
                yield f"- {row.label}: {code(row.text)}"
            case Form.PROSE:
                yield f"- {row.label}: {inline(row.text)}"
    if frames:
        yield from ("- frames:", "", *fenced("\n".join(text[:LONGEST] for text in frames), ""))
