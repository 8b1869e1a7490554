"""`docs/evidence/certified.md`: a function of the record and the reasons."""

from collections.abc import Iterator, Mapping, Sequence

from interop.certified.record import CertifiedServer, Edition, Finding, UnmetDemand
from interop.markdown import cell, frames, short, text
from interop.public.table import PublicServer

TRACES = "../../interop/certified/traces"
INTRODUCTION = """\
# Certified public servers

The result of `assay certify` on two public servers, by the profile intelgraph/2026-11 and within the scope of
the one transport that each was judged on. Written by `make certified ARGS=--public`; do not edit.

- Neither server claims to meet the profile. The profile demands more than MCP (tags, effects, versions,
  manifests, spans, tokens, streams that resume, benchmarks, replays).
- Each finding states what was expected and observed, with its frames. A finding at several revisions is shown
  once, at the newest; its trace is stored, and `assay judge interop/certified/traces` judges it again.
- `interop/certified/reasons.toml` explains each finding, written after comparing its frames with the demand.
  An unexplained finding fails the command: a false one is a fault of the lab.
- Demands that were not measured are listed with the reason.
"""


def page(
    certified: Sequence[CertifiedServer],
    servers: Mapping[str, PublicServer],
    reasons: Mapping[tuple[str, str], str],
) -> str:
    parts = [INTRODUCTION, *_overview(certified, servers), *_changes(certified)]
    for result in certified:
        parts += _server(result, servers[result.server], reasons)
    return "\n".join(parts).rstrip() + "\n"


def _overview(certified: Sequence[CertifiedServer], servers: Mapping[str, PublicServer]) -> Iterator[str]:
    yield "| server | package | built with | transport | revisions | met | not measured | not applicable |"
    yield "|---|---|---|---|---|--:|--:|--:|"
    for result in certified:
        server, counts = servers[result.server], result.counts
        met = f"{counts.passed} of {counts.scored}"
        cells = (
            *(
                f"[{result.server}](#{result.server})",
                f"`{server.package}` {result.version}",
                server.built_with,
            ),
            *(result.transport, "<br>".join(result.revisions), met),
            *(str(counts.not_measured), str(counts.skipped)),
        )
        yield f"| {' | '.join(cells)} |"
    yield ""


def _changes(certified: Sequence[CertifiedServer]) -> Iterator[str]:
    """What the first edition would conclude from the same runs."""
    yield "## What changed since the first edition\n"
    yield "Both editions on the same runs: the newest asks for more, and names what is missing.\n"
    yield "| server | edition | conclusion | met | not met only by this edition |"
    yield "|---|---|---|--:|---|"
    for result in certified:
        if result.first is None:
            continue
        now, then = {unmet.demand for unmet in result.unmet}, set(result.first.unmet)
        counts = result.counts
        newest = Edition(result.profile, result.conclusion, counts.passed, counts.scored, sorted(now))
        for edition, other in ((result.first, now), (newest, then)):
            names = ", ".join(sorted({*edition.unmet} - other)) or "none"
            met = f"{edition.passed} of {edition.scored}"
            yield f"| {result.server} | {edition.profile} | {edition.conclusion} | {met} | {names} |"
    yield ""


def _server(
    result: CertifiedServer, server: PublicServer, reasons: Mapping[tuple[str, str], str]
) -> Iterator[str]:
    yield f"## {result.server}\n"
    yield f"`{server.package}` {result.version}: profile {result.conclusion}.\n"
    yield f"```\n{result.command}\n```\n"
    yield "| not met | findings | at |\n|---|--:|---|"
    for unmet in result.unmet:
        rule = f"[{unmet.demand}](#{_anchor(result, unmet)}) {cell(unmet.title)}"
        yield f"| {rule} | {unmet.count} | {', '.join(unmet.revisions)} |"
    yield ""
    for unmet in result.unmet:
        yield from _unmet(result, unmet, reasons.get((result.server, unmet.demand), ""))
    if result.gaps:
        yield f"### What else keeps it from `met`: {result.server}\n"
        yield from (f"- {text(gap)}" for gap in result.gaps)
        yield ""
    yield f"### Not measured or not applicable: {result.server}\n"
    yield from (f"- {text(reason)}: {', '.join(ids)}" for reason, ids in result.unmeasured.items())
    yield ""


def _unmet(result: CertifiedServer, unmet: UnmetDemand, why: str) -> Iterator[str]:
    yield f'<a id="{_anchor(result, unmet)}"></a>\n'
    yield f"**{unmet.demand}**: {text(unmet.title)}\n"
    if unmet.findings:
        yield f"Why: {why.strip()}\n"
    else:
        yield f"Result: {text(unmet.reason)}\n"
    for finding in unmet.findings:
        yield from _finding(result, finding)


def _finding(result: CertifiedServer, finding: Finding) -> Iterator[str]:
    yield f"- expected: {text(finding.expected)}"
    yield f"- observed: {text(short(finding.observed))}"
    place = f"[{finding.trace}]({TRACES}/{result.server}/{finding.trace})"
    yield f"- at {finding.revision}: {place}, frames {finding.frames}"
    yield from frames(finding.excerpt)


def _anchor(result: CertifiedServer, unmet: UnmetDemand) -> str:
    return f"{result.server}-{unmet.demand}".replace(".", "-").lower()
