"""The report of a certification: Markdown, and one HTML page that works offline.

Both are functions of the summary. Text from the server is always escaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from jinja2 import Template
from markupsafe import Markup

from assay.lab.harness.verdict import Verdict
from assay.lab.report.html.block import as_source, plain, template
from assay.lab.report.markdown import code, inline
from assay.model.visible import visible_values

from .finding_group import FindingGroup, group_findings
from .fix_hint import fix_hint
from .scoring import Measure, Score
from .summary_form import Summary

HOME: Final = Path(__file__).parent / "pages"
WORDS: Final = {
    Verdict.SUCCESS: "passed",
    Verdict.FAILURE: "failed",
    Verdict.WARNING: "warned",
    Verdict.SKIPPED: "",
    Verdict.INFO: "shown",
}


def html(summary: Summary) -> str:
    summary = _visible(summary)
    styles = (HOME / "report.css").read_text("ascii")
    page = _template().render(
        summary=summary,
        groups=groups(summary),
        failures=[score for score in summary.checks if score.findings or score.status is Verdict.FAILURE],
        remarks=list(remarks(summary)),
        styles=Markup(styles),
        policy=f"default-src 'none'; style-src {as_source(styles)}; base-uri 'none'; form-action 'none'",
    )
    # ASCII only: the page survives any transport and encoding.
    return page.encode("ascii", "xmlcharrefreplace").decode()


def markdown(summary: Summary) -> str:
    """Complete, in contrast to the Markdown of a run, which is shortened: this one is evidence."""
    return "\n".join(_markdown(_visible(summary))) + "\n"


def _visible(summary: Summary) -> Summary:
    """The summary with texts in which nothing acts: the server chose some of them."""
    return msgspec.convert(visible_values(msgspec.to_builtins(summary)), Summary)


def groups(summary: Summary) -> dict[str, list[Score]]:
    by_name: dict[str, list[Score]] = {}
    for score in summary.checks:
        by_name.setdefault(score.group, []).append(score)
    return by_name


def word(score: Score) -> str:
    return WORDS[score.status] or str(score.measure)


def remarks(summary: Summary) -> Iterator[str]:
    """Who signed, and where the figures come from."""
    attested = summary.attested
    if attested.developer is None:
        yield "Not signed: the origin of this evidence is unknown."
    elif attested.self_attested and attested.harness in (None, attested.developer):
        yield f"Self-attested: only the developer has signed, with {attested.developer}."
    elif attested.self_attested:
        yield (
            f"Self-attested: signed by the developer with {attested.developer}. The metrics are signed with "
            f"{attested.harness}; whether that key is independent, only a verifier who trusts it can say."
        )
    else:
        yield f"Signed by the developer with {attested.developer}; metrics signed with {attested.harness}."
    if summary.metrics is None:
        yield "Latency was not measured, and no metrics were given."
    else:
        yield f"Latency is {summary.metrics.source}: it comes from the given metrics, not from this run."
    counts = summary.vulnerabilities
    if counts is not None:
        yield (
            f"Known vulnerabilities: {counts.critical} critical, {counts.high} high, {counts.medium} medium, "
            f"{counts.low} low, {counts.unscored} unscored, {counts.undecided} undecided; "
            f"{counts.unmatched} components could not be looked up; newest of {counts.db.records} records: "
            f"{counts.db.newest}. Waived: {', '.join(counts.waived) or 'none'}."
        )


def _markdown(summary: Summary) -> Iterator[str]:
    counts = summary.summary
    yield f"# {inline(summary.server.name)} {inline(summary.server.version)}: {summary.conclusion}"
    yield ""
    yield f"Profile {summary.profile.id}, list sha256:{summary.profile.sha256}."
    yield (
        f"{counts.passed} of {counts.scored} scored demands are met, {counts.failed} are not; "
        f"{counts.warned} with warnings; {counts.not_measured} not measured; {counts.skipped} not applicable."
    )
    yield f"Judged on {_listed(summary.server.transports)} at {_listed(summary.server.protocol_versions)}"
    yield f"by {summary.tool.name} {summary.tool.version}, {summary.run.started_at}."
    yield f"Valid until {summary.expires_at}."
    yield ""
    yield from (f"- {inline(line)}" for line in remarks(summary))
    yield from _findings(summary)
    for name, scores in groups(summary).items():
        yield from ("", f"## {name}", "", "| demand | outcome | |", "|---|---|---|")
        yield from (_row(score) for score in scores)


def _row(score: Score) -> str:
    scored = "" if score.scored else " (not scored)"
    more = f": {inline(score.reason)}" if score.reason else ""
    return f"| {score.id} | {word(score)}{scored} | {inline(score.title)}{more} |"


def _findings(summary: Summary) -> Iterator[str]:
    for score in summary.checks:
        if not score.findings:
            continue
        yield from ("", f"## {word(score)}: {score.id}", "", inline(score.title), "")
        if hint := fix_hint(score.id):
            yield from (f"Fix: {inline(hint)}", "")
        for group in group_findings(score.findings):
            yield from _finding(group)


def _finding(group: FindingGroup) -> Iterator[str]:
    first = group.first
    yield f"- {group.where}: {inline(first.scenario)} ({first.level})"
    yield f"  - expected: {inline(first.expected)}"
    yield f"  - observed: {code(first.observed)}"
    yield from (f"  - {code(line)}" for line in first.excerpt)
    yield f"  - frames: {', '.join(code(trace) for trace in group.traces) or 'none'}"


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


@cache
def _template() -> Template:
    page = HOME / "report.html"
    return template(
        page, plain=plain, word=word, outcome=_outcome, file=_file, grouped=group_findings, fix_hint=fix_hint
    )


def _outcome(score: Score) -> str:
    """The CSS class of a demand."""
    outcome = score.status if score.measure is Measure.MEASURED else score.measure
    return str(outcome).lower().replace(" ", "-")


def _file(frame: str) -> str:
    return frame.partition("#")[0]
