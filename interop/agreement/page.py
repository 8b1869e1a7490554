"""`docs/agreement.md` and the table on the terminal: functions of the record and the explanations."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from .explanation import Explanation, Explanations
from .record import Judged, Pair, Record
from .table import OWN, FixtureServer

INTRODUCTION = """\
# Agreement with the official suite

`assay server --suite everything` plays the scenarios of the official conformance suite under their official
names. Here both judge the same servers: `assay serve everything`, and fixture servers of ours on other SDKs,
in `interop/peers/`. Written by `make agreement`; do not edit.

- The official suite calls a scenario passed in which nothing failed, also when nothing was checked. Its
  checks are counted instead: *nothing proved* is a scenario without any that is about its subject. That and
  our *not applicable* count as agreement: neither claims anything.
- What a difference means was written by hand, in `interop/agreement/explanations.toml`, after reading the
  frames. A difference that nobody explained fails the command, and so does an explanation of something that
  is no longer so.
"""
MARKS = {"passed": "✓", "passed with warnings": "!", "failed": "✗"}
NEITHER = "○"
LEGEND = (
    "✓ passed, ! passed with warnings, ✗ failed, ○ nothing proved or not applicable; a link: they differ."
)


def page(record: Record, servers: Mapping[str, FixtureServer], explanations: Explanations) -> str:
    parts = (
        INTRODUCTION,
        *_summary(record, servers),
        *_table(record, servers, explanations),
        *_differences(record, servers, explanations),
        *_speed(record),
    )
    return "\n".join(parts).rstrip() + "\n"


def _titled(judged: Judged, servers: Mapping[str, FixtureServer]) -> str:
    return f"{servers[judged.server].title} {judged.version}".strip()


def _summary(record: Record, servers: Mapping[str, FixtureServer]) -> Iterator[str]:
    yield f"## Servers\n\nJudged by {record.suite} and by the everything suite.\n"
    yield "| server | revision | scenarios | same verdict | explained difference |"
    yield "|---|---|--:|--:|--:|"
    for judged in record.judged:
        for revision in servers[judged.server].revisions:
            pairs = [pair for pair in judged.pairs if pair.revision == revision]
            same = sum(pair.agrees for pair in pairs)
            cells = (_titled(judged, servers), revision, len(pairs), same, len(pairs) - same)
            yield f"| {' | '.join(map(str, cells))} |"
    yield ""


def columns(
    record: Record, servers: Mapping[str, FixtureServer]
) -> dict[tuple[str, str], dict[str, tuple[str, Pair]]]:
    """Server and revision, each with its pairs by scenario."""
    return {
        (_titled(judged, servers), revision): {
            pair.scenario: (judged.server, pair) for pair in judged.pairs if pair.revision == revision
        }
        for judged in record.judged
        for revision in servers[judged.server].revisions
    }


def _table(record: Record, servers: Mapping[str, FixtureServer], explanations: Explanations) -> Iterator[str]:
    places = columns(record, servers)
    scenarios = list(dict.fromkeys(scenario for pairs in places.values() for scenario in pairs))
    yield f"## Scenarios\n\n{LEGEND}\n"
    yield f"| scenario | {' | '.join('<br>'.join(place) for place in places)} |"
    yield f"|---|{':-:|' * len(places)}"
    for scenario in scenarios:
        cells = (_cell(pairs.get(scenario), explanations) for pairs in places.values())
        yield f"| {scenario} | {' | '.join(cells)} |"
    yield ""


def _cell(found: tuple[str, Pair] | None, explanations: Explanations) -> str:
    if found is None:
        return ""
    server, pair = found
    if pair.agrees:
        return MARKS.get(pair.ours.verdict, NEITHER)
    explanation = explanations.of(server, pair)
    return f"[{explanation.id}](#{explanation.id})" if explanation else "**?**"


def _differences(
    record: Record, servers: Mapping[str, FixtureServer], explanations: Explanations
) -> Iterator[str]:
    yield "## Differences\n"
    for explanation in explanations.all:
        found = [
            (_titled(judged, servers), pair)
            for judged in record.judged
            for pair in judged.differences
            if explanations.of(judged.server, pair) is explanation
        ]
        if found:
            yield from _difference(explanation, found)


def _difference(explanation: Explanation, found: Sequence[tuple[str, Pair]]) -> Iterator[str]:
    yield f'<a id="{explanation.id}"></a>\n'
    title = f"**{explanation.id}: official *{explanation.official}*, ours *{explanation.ours}*.**"
    yield f"{title} {' '.join(explanation.why.split())}\n"
    yield "| server | revision | scenario | official | ours |"
    yield "|---|---|---|---|---|"
    for server, pair in found:
        told = (_because(pair.official.because), _because(pair.ours.because))
        yield f"| {server} | {pair.revision} | {pair.scenario} | {' | '.join(told)} |"
    yield ""


def _because(lines: Sequence[str]) -> str:
    # What a server said must not become markup of ours.
    return "<br>".join(" ".join(line.split()).replace("<", "&lt;").replace("|", "\\|") for line in lines)


def _speed(record: Record) -> Iterator[str]:
    yield "## Speed\n"
    yield "Of that run, on `assay serve everything` over HTTP: the whole command from start to end, the best"
    yield "of several rounds in turns.\n"
    yield "| official suite | Assay | ratio |"
    yield "|---|---|--:|"
    yield from (f"| {' | '.join(speed(judged))} |" for judged in record.judged if judged.server == OWN)
    yield ""


def speed(judged: Judged) -> tuple[str, str, str]:
    seconds = judged.seconds
    return (
        f"{seconds.official_scenarios} scenarios in {seconds.official:.1f} s",
        f"{seconds.our_scenarios} scenarios, {seconds.our_cells} with revisions, in {seconds.ours:.1f} s",
        f"{seconds.ratio:.2f}",
    )


def terminal(judged: Judged) -> str:
    """One line for each scenario, the suites side by side."""
    width = max(len(pair.scenario) for pair in judged.pairs)
    lines = [
        f"  {'=' if pair.agrees else '≠'} {pair.revision} {pair.scenario:<{width}}  "
        f"{pair.official.verdict} | {pair.ours.verdict}"
        for pair in judged.pairs
    ]
    counted = Counter(pair.agrees for pair in judged.pairs)
    lines.append(f"  {counted[True]} the same, {counted[False]} different")
    official, ours, ratio = speed(judged)
    lines.append(f"  speed: official {official}; ours {ours}; ratio {ratio}")
    return "\n".join(lines)
