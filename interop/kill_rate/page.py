"""docs/evidence/kill-rate.md, and the table on the terminal."""

from collections.abc import Iterator, Sequence

from interop.kill_rate.record import Attempt, Detection, Record, by_saboteur, detection_of, rates

COLUMNS = (
    "suite",
    "area",
    "saboteurs",
    "ours",
    "official",
    "by FAILURE",
    "by WARNING only",
    "not comparable",
)
HEAD = """\
# Kill rate

How many faulty servers do our checks and the official conformance suite detect? Written by `make kill-rate`;
do not edit.

A **saboteur** is a healthy server with one fault that breaks one requirement (see [lab.md](../lab.md)). Both
suites run on every saboteur that works over HTTP:

- **ours**: caught if a check finds *that requirement* broken, in front of the server that the saboteur was
  written for;
- **official** ({suite}, all its scenarios at
  {revisions}): caught if any check is a FAILURE or WARNING that the healthy server does not get, or a
  scenario ends without checks that has some there, and the same when it is repeated. It runs in front of the
  `everything` server, whose fixtures it needs, with a test double for extensions that the server lacks.

A saboteur counts as caught if it is caught at one of the revisions; after a FAILURE the others are skipped. A
fault that neither suite detects in front of `everything`, and that changed no message there, is *not
comparable* and counts for neither.

The saboteurs were written together with our checks, so it is expected that ours catch all; `assay prove`
shows it. The point of this page is the other column: the faults that a green official run does not detect.
"""
PARTS = {
    Detection.MISSED: (
        "Missed: active, not detected",
        "The fault changed messages between the official suite and the server, and no check failed.",
    ),
    Detection.NOT_TRIGGERED: (
        "Missed: not triggered",
        "Our scenarios trigger the fault in front of the same server; the official ones never do.",
    ),
    Detection.WARNED: ("Caught by a WARNING only", "The official suite's exit code is 0 for these."),
    Detection.FAILED: ("Caught by a FAILURE", "One of the failing checks is named."),
    Detection.NOT_COMPARABLE: (
        "Not comparable",
        "These show their fault in front of `reference` only, and were caught there.",
    ),
}


def rows(attempts: Sequence[Attempt]) -> Iterator[tuple[str, ...]]:
    for rate in rates(attempts):
        ours, official = (_share(caught, rate.saboteurs) for caught in (rate.ours, rate.official))
        figures = (rate.saboteurs, ours, official, rate.failed, rate.warned, rate.not_comparable)
        yield (rate.suite, rate.area, *map(str, figures))


def _share(caught: int, every: int) -> str:
    return f"{caught} ({caught / every:.0%})" if every else "-"


def terminal(attempts: Sequence[Attempt]) -> str:
    lines = [COLUMNS, *rows(attempts)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(COLUMNS))]
    return "\n".join("  ".join(_aligned(line, widths)).rstrip() for line in lines)


def _aligned(line: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    for place, (cell, width) in enumerate(zip(line, widths, strict=True)):
        yield cell.rjust(width) if place > 1 else cell.ljust(width)


def table(heads: Sequence[str], lines: Iterator[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for line in lines:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |"


def page(record: Record) -> str:
    head = HEAD.format(suite=record.suite, revisions=" and ".join(record.revisions))
    parts = (_counts(record), *(_part(record, detection) for detection in PARTS), _elsewhere(record))
    return "\n".join((head, *("\n".join(part) + "\n" for part in parts)))


def _counts(record: Record) -> Iterator[str]:
    yield "## By area\n"
    yield from table(COLUMNS, rows(record.attempts))


def _part(record: Record, detection: Detection) -> Iterator[str]:
    title, about = PARTS[detection]
    groups = [group for group in by_saboteur(record.attempts).values() if detection_of(group) is detection]
    yield f"## {title}: {len(groups)}\n"
    yield f"{about}\n"
    named = detection in (Detection.FAILED, Detection.WARNED)
    heads = ("saboteur", "fault", "revisions", *(("by",) if named else ()))
    yield from table(heads, (_line(group, named) for group in groups))


def _line(attempts: Sequence[Attempt], named: bool) -> tuple[str, ...]:
    first = attempts[0]
    revisions = ", ".join(attempt.revision for attempt in attempts)
    complaints = sorted(complaint for attempt in attempts for complaint in attempt.official)
    return (first.name, first.fault, revisions, *((f"{complaints[0].partition(' ')[2]}",) if named else ()))


def _elsewhere(record: Record) -> Iterator[str]:
    yield f"## Not counted: {len(record.elsewhere)}\n"
    yield "Saboteurs for HTTP that do not apply at these revisions, such as those about batches.\n"
    yield from (f"- {name}" for name in record.elsewhere)
