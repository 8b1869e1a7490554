"""`docs/evidence/public-servers.md`: a function of the record, the table of servers and the reasons."""

from collections.abc import Iterator, Mapping

from assay.lab.harness.verdict import Outcome
from interop.markdown import cell, frames, short, text
from interop.public.reason import Reasons
from interop.public.record import Found, Judged, Record
from interop.public.table import PublicServer

TRACES = "../../interop/public/traces"
INTRODUCTION = """\
# Public servers

What the lab says of servers that nobody here wrote: from PyPI and npm, at the versions pinned in
`interop/public/servers/`, none with conformance fixtures. Written by `make public`; do not edit.

- Each finding names the requirement, what was expected and observed, the frames that prove it, and why it is
  true. The last was written by hand, in `interop/public/reasons.toml`, after reading the clause and, where
  there is any, the server's source. A finding without a reason fails the command: a false finding is a fault
  of the lab, and is mended there.
- The whole trace behind each finding is kept. `assay judge interop/public/traces` judges them all again,
  offline; `tests/interop/test_public.py` holds that to this page.
- A finding is about one sentence of the specification. Most come from the SDK that a server is built with,
  and few would trouble a kind client. None says anything about how useful a server is.
"""


def page(record: Record, servers: Mapping[str, PublicServer], reasons: Reasons) -> str:
    parts = (
        INTRODUCTION,
        *_servers(record, servers),
        *_table(record),
        *(line for judged in record.judged for line in _judged(judged, reasons)),
    )
    return "\n".join(parts).rstrip() + "\n"


def _servers(record: Record, servers: Mapping[str, PublicServer]) -> Iterator[str]:
    yield f"## The servers\n\nJudged by {record.scenarios} scenarios and {record.checks} checks.\n"
    yield "| server | package | built with | on | speaks | scenario runs | broken MUST | broken SHOULD |"
    yield "|---|---|---|---|---|---|--:|--:|"
    for judged in record.judged:
        server = servers[judged.server]
        cells = (
            judged.server,
            f"`{server.package}` {judged.version}",
            server.built_with,
            judged.transport,
            "<br>".join(judged.speaks),
            "<br>".join(f"{judged.outcomes[one]} {one}" for one in Outcome if one in judged.outcomes),
            str(_count(judged, "FAILURE")),
            str(_count(judged, "WARNING")),
        )
        yield f"| {' | '.join(cells)} |"
    yield ""


def _count(judged: Judged, verdict: str) -> int:
    return len({found.requirement for found in judged.found if found.verdict == verdict})


def _table(record: Record) -> Iterator[str]:
    yield "## The findings\n"
    yield "| server | requirement | level | revisions | expected | observed |"
    yield "|---|---|---|---|---|---|"
    for judged in record.judged:
        for found in judged.found:
            rule = f"[{found.requirement}](#{_anchor(judged, found)}) {cell(found.statement)}"
            seen = (cell(found.expected), cell(short(found.observed)))
            cells = (judged.server, rule, found.level, "<br>".join(found.revisions), *seen)
            yield f"| {' | '.join(cells)} |"
    yield ""


def _judged(judged: Judged, reasons: Reasons) -> Iterator[str]:
    yield f"## {judged.server} {judged.version}\n"
    if not judged.found:
        yield "No finding.\n"
    for found in judged.found:
        yield from _found(judged, found, reasons.why(judged.server, found.key) or "")


def _found(judged: Judged, found: Found, why: str) -> Iterator[str]:
    yield f'<a id="{_anchor(judged, found)}"></a>\n'
    yield f"**[{found.requirement}]({found.link}) ({found.level})**: {text(found.statement)}\n"
    yield f"- check: `{found.check}`, on {judged.transport} at {', '.join(found.revisions)}"
    yield f"- expected: {text(found.expected)}"
    yield f"- observed: {text(short(found.observed))}"
    yield f"- trace: [{found.trace}]({TRACES}/{judged.server}/{found.trace})"
    yield f"- true because: {why.strip()}"
    yield from frames(found.excerpt)


def _anchor(judged: Judged, found: Found) -> str:
    return f"{judged.server}-{found.check}-{found.requirement}".replace(".", "-").lower()
