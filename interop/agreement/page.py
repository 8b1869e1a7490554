"""The page and the table on the terminal: functions of the record and the explanations."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from interop.agreement.explanation import Explanation, Explanations
from interop.agreement.record import Pair, Record, SubjectResult
from interop.agreement.side import Side
from interop.agreement.table import Fixture

MARKS = {"passed": "✓", "passed with warnings": "!", "failed": "✗"}
NEITHER = "○"
LEGEND = "✓ passed, ! passed with warnings, ✗ failed, ○ nothing proved or not applicable; link: they differ."


def page(record: Record, side: Side, explanations: Explanations) -> str:
    subjects = side.fixtures
    parts = (
        side.introduction,
        *_summary(record, subjects, side),
        *_table(record, subjects, explanations),
        *_differences(record, subjects, explanations, side),
        *_speed(record, subjects, side),
    )
    return "\n".join(parts).rstrip() + "\n"


def _titled(judged: SubjectResult, subjects: Mapping[str, Fixture]) -> str:
    return f"{subjects[judged.subject].title} {judged.version}".strip()


def _summary(record: Record, subjects: Mapping[str, Fixture], side: Side) -> Iterator[str]:
    yield f"## {side.word.capitalize()}s\n\nJudged by {record.suite} and by {side.suite}.\n"
    yield f"| {side.word} | revision | scenarios | same verdict | explained difference |"
    yield "|---|---|--:|--:|--:|"
    for judged in record.judged:
        for revision in subjects[judged.subject].revisions:
            pairs = [pair for pair in judged.pairs if pair.revision == revision]
            same = sum(pair.agrees for pair in pairs)
            cells = (_titled(judged, subjects), revision, len(pairs), same, len(pairs) - same)
            yield f"| {' | '.join(map(str, cells))} |"
    yield ""


def columns(
    record: Record, subjects: Mapping[str, Fixture]
) -> dict[tuple[str, str], dict[str, tuple[str, Pair]]]:
    """Subject and revision, each with its pairs by scenario."""
    return {
        (_titled(judged, subjects), revision): {
            pair.scenario: (judged.subject, pair) for pair in judged.pairs if pair.revision == revision
        }
        for judged in record.judged
        for revision in subjects[judged.subject].revisions
    }


def _table(record: Record, subjects: Mapping[str, Fixture], explanations: Explanations) -> Iterator[str]:
    places = columns(record, subjects)
    scenarios = list(dict.fromkeys(scenario for pairs in places.values() for scenario in pairs))
    yield f"## Scenarios\n\n{LEGEND}\n"
    yield f"| scenario | {' | '.join('<br>'.join(place) for place in places)} |"
    yield f"|---|{':-:|' * len(places)}"
    for scenario in scenarios:
        cells = (_cell(pairs.get(scenario), explanations) for pairs in places.values())
        yield f"| {scenario} | {' | '.join(cells)} |"
    yield ""


def _cell(entry: tuple[str, Pair] | None, explanations: Explanations) -> str:
    if entry is None:
        return ""
    server, pair = entry
    if pair.agrees:
        return MARKS.get(pair.ours.verdict, NEITHER)
    explanation = explanations.of(server, pair)
    return f"[{explanation.id}](#{explanation.id})" if explanation else "**?**"


def _differences(
    record: Record, subjects: Mapping[str, Fixture], explanations: Explanations, side: Side
) -> Iterator[str]:
    yield "## Differences\n"
    for explanation in explanations.all:
        occurrences = [
            (_titled(judged, subjects), pair)
            for judged in record.judged
            for pair in judged.differences
            if explanations.of(judged.subject, pair) is explanation
        ]
        if occurrences:
            yield from _difference(explanation, occurrences, side.word)


def _difference(
    explanation: Explanation, occurrences: Sequence[tuple[str, Pair]], word: str
) -> Iterator[str]:
    yield f'<a id="{explanation.id}"></a>\n'
    title = f"**{explanation.id}: official *{explanation.official}*, ours *{explanation.ours}*.**"
    yield f"{title} {' '.join(explanation.why.split())}\n"
    yield f"| {word} | revision | scenario | official | ours |"
    yield "|---|---|---|---|---|"
    for server, pair in occurrences:
        reasons = (_because(pair.official.because), _because(pair.ours.because))
        yield f"| {server} | {pair.revision} | {pair.scenario} | {' | '.join(reasons)} |"
    yield ""


def _because(lines: Sequence[str]) -> str:
    # Text from a subject must not become markup.
    return "<br>".join(" ".join(line.split()).replace("<", "&lt;").replace("|", "\\|") for line in lines)


def _speed(record: Record, subjects: Mapping[str, Fixture], side: Side) -> Iterator[str]:
    yield "## Speed\n"
    yield f"Measured {side.speed}\n"
    yield f"| {side.word} | official suite | Assay | ratio |"
    yield "|---|---|---|--:|"
    for judged in record.judged:
        if judged.subject in side.timed:
            yield f"| {' | '.join((_titled(judged, subjects), *speed(judged)))} |"
    yield ""


def speed(judged: SubjectResult) -> tuple[str, str, str]:
    seconds = judged.seconds
    return (
        f"{seconds.official_scenarios} scenarios in {seconds.official:.1f} s",
        f"{seconds.our_scenarios} scenarios, {seconds.our_cells} with revisions, in {seconds.ours:.1f} s",
        f"{seconds.ratio:.2f}",
    )


def terminal(judged: SubjectResult) -> str:
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
