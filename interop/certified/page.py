"""`docs/evidence/certified.md`: a function of the record and the reasons."""

from collections.abc import Iterator, Mapping, Sequence

from interop.certified.record import Certified, Finding, Found
from interop.markdown import cell, frames, short, text
from interop.public.table import PublicServer

TRACES = "../../interop/certified/traces"
INTRODUCTION = """\
# Certified public servers

What `assay certify` says of two servers that nobody here wrote, by the profile intelgraph/2025-10. Written by
`make certified ARGS=--public`; do not edit.

- Neither server claims to keep to the profile, and nobody has asked them to. The profile wants more than MCP
  does (tags, effects, versions, manifests, spans), and in places other things: MCP of 2025-03-26 has batches,
  which the profile refuses.
- Each finding says what was expected and observed, and shows its frames. Found at several revisions, it is
  told once, as at the newest; that trace is kept, and `assay judge interop/certified/traces` judges it again.
- Why a finding is true was written by hand, in `interop/certified/reasons.toml`, after its frames were held
  against the demand. A finding without a reason fails the command: a false one is a fault of the lab.
- Nothing measured is not the same as nothing found: what nobody looked at is listed with its reason.
"""


def page(
    every: Sequence[Certified], servers: Mapping[str, PublicServer], reasons: Mapping[tuple[str, str], str]
) -> str:
    parts = [INTRODUCTION, *_overview(every, servers)]
    for one in every:
        parts += _server(one, servers[one.server], reasons)
    return "\n".join(parts).rstrip() + "\n"


def _overview(every: Sequence[Certified], servers: Mapping[str, PublicServer]) -> Iterator[str]:
    yield "| server | package | built with | on | speaks | scored and met | not measured | not applicable |"
    yield "|---|---|---|---|---|--:|--:|--:|"
    for one in every:
        server, counts = servers[one.server], one.counts
        met = f"{counts.passed} of {counts.scored}"
        cells = (
            *(f"[{one.server}](#{one.server})", f"`{server.package}` {one.version}", server.built_with),
            *(one.transport, "<br>".join(one.revisions), met),
            *(str(counts.not_measured), str(counts.skipped)),
        )
        yield f"| {' | '.join(cells)} |"
    yield ""


def _server(one: Certified, server: PublicServer, reasons: Mapping[tuple[str, str], str]) -> Iterator[str]:
    yield f"## {one.server}\n"
    yield f"`{server.package}` {one.version}: profile {one.conclusion}.\n"
    yield f"```\n{one.command}\n```\n"
    yield "| not met | findings | at |\n|---|--:|---|"
    for found in one.found:
        rule = f"[{found.demand}](#{_anchor(one, found)}) {cell(found.title)}"
        yield f"| {rule} | {found.count} | {', '.join(found.revisions)} |"
    yield ""
    for found in one.found:
        yield from _found(one, found, reasons.get((one.server, found.demand), ""))
    yield f"### Not known of {one.server}\n"
    yield from (f"- {text(reason)}: {', '.join(ids)}" for reason, ids in one.unmeasured.items())
    yield ""


def _found(one: Certified, found: Found, why: str) -> Iterator[str]:
    yield f'<a id="{_anchor(one, found)}"></a>\n'
    yield f"**{found.demand}**: {text(found.title)}\n"
    yield f"True because: {why.strip()}\n"
    for each in found.findings:
        yield from _finding(one, each)


def _finding(one: Certified, each: Finding) -> Iterator[str]:
    yield f"- expected: {text(each.expected)}"
    yield f"- observed: {text(short(each.observed))}"
    place = f"[{each.trace}]({TRACES}/{one.server}/{each.trace})"
    yield f"- at {each.revision}: {place}, frames {each.frames}"
    yield from frames(each.excerpt)


def _anchor(one: Certified, found: Found) -> str:
    return f"{one.server}-{found.demand}".replace(".", "-").lower()
