"""The report of a certification, for people: Markdown, and one page of HTML that opens without a network.

Both are functions of the summary. What a server said is shown as text, whatever is in it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from assay.lab.harness.verdict import Verdict
from assay.lab.report.html.block import plain
from assay.lab.report.markdown import code, inline

from .alike import Alike, alike
from .remedy import remedy
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
    styles = (HOME / "report.css").read_text("ascii")
    page = _template().render(
        found=summary,
        groups=groups(summary),
        bad=[one for one in summary.checks if one.findings or one.status is Verdict.FAILURE],
        remarks=list(remarks(summary)),
        styles=Markup(styles),
        policy=f"default-src 'none'; style-src 'sha256-{_hash(styles)}'; base-uri 'none'; form-action 'none'",
    )
    # ASCII alone: the page comes unharmed through any pipe, whatever its encoding.
    return page.encode("ascii", "xmlcharrefreplace").decode()


def markdown(summary: Summary) -> str:
    """Never cut: it is evidence, not a comment."""
    return "\n".join(_markdown(summary)) + "\n"


def groups(summary: Summary) -> dict[str, list[Score]]:
    found: dict[str, list[Score]] = {}
    for one in summary.checks:
        found.setdefault(one.group, []).append(one)
    return found


def word(one: Score) -> str:
    return WORDS[one.status] or str(one.measure)


def remarks(summary: Summary) -> Iterator[str]:
    """What a reader must know to judge this."""
    attested = summary.attested
    if attested.developer is None:
        yield "Not signed: nobody stands behind this."
    elif attested.self_attested:
        yield f"Self-attested: the developer alone has signed, with {attested.developer}."
    else:
        yield f"Signed by the developer with {attested.developer}, metrics with {attested.harness}."
    if summary.metrics is None:
        yield "Latency was not measured, and no measurements were given."
    else:
        yield f"Latency is {summary.metrics.source}: it was given, not measured here."
    found = summary.vulnerabilities
    if found is not None:
        yield (
            f"Known vulnerabilities: {found.critical} critical, {found.high} high, {found.medium} medium, "
            f"{found.low} low, {found.unscored} unscored, {found.undecided} undecided; "
            f"{found.unmatched} components could not be looked up; newest of {found.db.records} records: "
            f"{found.db.newest}. Waived: {', '.join(found.waived) or 'none'}."
        )


def _markdown(summary: Summary) -> Iterator[str]:
    counts = summary.summary
    yield f"# {inline(summary.server.name)} {inline(summary.server.version)}: {summary.conclusion}"
    yield ""
    yield f"Profile {summary.profile.id}, list sha256:{summary.profile.sha256}."
    yield (
        f"{counts.passed} of {counts.scored} scored demands are met; {counts.failed} are not; "
        f"{counts.warned} warned; {counts.not_measured} not measured; {counts.skipped} not applicable."
    )
    yield f"Judged on {_listed(summary.server.transports)} at {_listed(summary.server.protocol_versions)}"
    yield f"by {summary.tool.name} {summary.tool.version}, {summary.run.started_at}."
    yield f"Holds until {summary.expires_at}."
    yield ""
    yield from (f"- {inline(line)}" for line in remarks(summary))
    yield from _findings(summary)
    for name, scores in groups(summary).items():
        yield from ("", f"## {name}", "", "| demand | outcome | |", "|---|---|---|")
        yield from (_row(one) for one in scores)


def _row(one: Score) -> str:
    scored = "" if one.scored else " (not scored)"
    more = f": {inline(one.reason)}" if one.reason else ""
    return f"| {one.id} | {word(one)}{scored} | {inline(one.title)}{more} |"


def _findings(summary: Summary) -> Iterator[str]:
    for one in summary.checks:
        if not one.findings:
            continue
        yield from ("", f"## {word(one)}: {one.id}", "", inline(one.title), "")
        if hint := remedy(one.id):
            yield from (f"To mend it: {inline(hint)}", "")
        for found in alike(one.findings):
            yield from _finding(found)


def _finding(found: Alike) -> Iterator[str]:
    first = found.first
    yield f"- {found.where}: {inline(first.scenario)} ({first.level})"
    yield f"  - expected: {inline(first.expected)}"
    yield f"  - observed: {code(first.observed)}"
    yield from (f"  - {code(line)}" for line in first.excerpt)
    yield f"  - frames: {', '.join(code(trace) for trace in found.traces) or 'none'}"


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "nothing"


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(HOME),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        plain=plain, word=word, outcome=_outcome, file=_file, alike=alike, remedy=remedy
    )
    return environment.get_template("report.html")


def _outcome(one: Score) -> str:
    """The class of a demand."""
    return str(one.status if one.measure is Measure.MEASURED else one.measure).lower().replace(" ", "-")


def _file(frame: str) -> str:
    return frame.partition("#")[0]


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
