"""docs/evidence/kill-rate.md, and the table on the terminal."""

from collections.abc import Iterator, Sequence

from interop.kill_rate.record import Attempt, Fate, Record, by_saboteur, fate_of, rates

COLUMNS = ("suite", "area", "saboteurs", "ours", "official", "by FAILURE", "by WARNING only", "not playable")
HEAD = """\
# Kill rate

Who catches more servers with a fault: our checks, or the official conformance suite? This page is made by
`make kill-rate`; nobody edits it.

A **saboteur** is a healthy server with one named fault, which breaks one rule of the specification (see
[lab.md](../lab.md)). Every saboteur that can stand on HTTP is played by both:

- **ours**: caught if a check finds *that rule* broken, before the server that the saboteur is written for;
- **official** ({suite}, all its scenarios at
  {revisions}): caught if any check, of whatever, is a FAILURE or a WARNING that is none before
  the healthy server, or a scenario breaks down that does not there; and again when all is played again.
  It plays before the `everything` server, whose fixtures it needs, with a stand-in for extensions that the
  server lacks.

A saboteur counts as caught if it is at one of the revisions; after a FAILURE at one, no other is played. What
neither suite sees before `everything`, although it is caught elsewhere, and what changed nothing there, is
*not playable*: it counts for neither.

The saboteurs are ours, written beside our checks: that ours catches all is no surprise, and `assay prove`
shows it anyway. The page is about the other column: the faults that a green official run leaves open.
"""
PARTS = {
    Fate.UNSEEN: (
        "Got away: at work, and not seen",
        "The fault changed what passed between the official suite and the server, and no check turned.",
    ),
    Fate.UNPROVOKED: (
        "Got away: never provoked",
        "Our scenarios make the fault show before the same server; the official ones never come across it.",
    ),
    Fate.WARNED: ("Caught by a WARNING only", "The official suite's exit code is 0 for these."),
    Fate.FAILED: ("Caught by a FAILURE", "One of the checks that turned is named."),
    Fate.UNPLAYABLE: (
        "Not playable",
        "These show their fault before `reference` only, and were caught there.",
    ),
}


def rows(attempts: Sequence[Attempt]) -> Iterator[tuple[str, ...]]:
    for one in rates(attempts):
        ours, official = (_share(caught, one.saboteurs) for caught in (one.ours, one.official))
        figures = (one.saboteurs, ours, official, one.failed, one.warned, one.unplayable)
        yield (one.suite, one.area, *map(str, figures))


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
    parts = (_counts(record), *(_part(record, fate) for fate in PARTS), _elsewhere(record))
    return "\n".join((head, *("\n".join(part) + "\n" for part in parts)))


def _counts(record: Record) -> Iterator[str]:
    yield "## By area\n"
    yield from table(COLUMNS, rows(record.attempts))


def _part(record: Record, fate: Fate) -> Iterator[str]:
    title, about = PARTS[fate]
    found = [one for one in by_saboteur(record.attempts).values() if fate_of(one) is fate]
    yield f"## {title}: {len(found)}\n"
    yield f"{about}\n"
    named = fate in (Fate.FAILED, Fate.WARNED)
    heads = ("saboteur", "fault", "revisions", *(("by",) if named else ()))
    yield from table(heads, (_line(one, named) for one in found))


def _line(attempts: Sequence[Attempt], named: bool) -> tuple[str, ...]:
    first = attempts[0]
    revisions = ", ".join(one.revision for one in attempts)
    said = sorted(complaint for one in attempts for complaint in one.official)
    return (first.name, first.fault, revisions, *((f"{said[0].partition(' ')[2]}",) if named else ()))


def _elsewhere(record: Record) -> Iterator[str]:
    yield f"## Not counted: {len(record.elsewhere)}\n"
    yield "Saboteurs for HTTP that have nothing to break at these revisions, such as those of batches.\n"
    yield from (f"- {name}" for name in record.elsewhere)
