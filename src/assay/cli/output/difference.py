"""The difference between two runs as text, Markdown or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from assay.lab.harness.golden.frame_difference import FrameDifference
from assay.lab.harness.run.difference import CellChange, CheckChange, Difference, Trend
from assay.lab.report.markdown import bounded, code, details, escaped, inline, tag
from assay.model.visible import visible, visible_lines, visible_values

PLACES: Final = 3
"""Places that are named for one change."""
WIDTH: Final = 300
ONE_SIDED: Final = (Trend.NEW, Trend.GONE)
Group = list[CellChange]


def as_text(difference: Difference) -> str:
    return "".join(f"{visible(text)}\n" for text in (*_lines(difference), summary(difference)))


def as_json(difference: Difference) -> str:
    value = {**msgspec.to_builtins(difference), "counts": msgspec.to_builtins(difference.counts)}
    return visible_lines(msgspec.json.format(msgspec.json.encode(value), indent=2).decode()) + "\n"


def as_markdown(difference: Difference) -> str:
    difference = msgspec.convert(visible_values(msgspec.to_builtins(difference)), Difference)
    return bounded([f"## {summary(difference)}"], [_block(group) for group in groups(difference.cells)])


FORMATS: Final[Mapping[str, Callable[[Difference], str]]] = {
    "text": as_text,
    "json": as_json,
    "markdown": as_markdown,
}


def summary(difference: Difference) -> str:
    parts = [f"{count} {trend}" for trend, count in difference.counts.items() if count]
    verdict = "worse" if difference.is_worse else "no worse"
    return f"{verdict}: {', '.join((*parts, f'{difference.same} the same'))}"


def groups(cells: Iterable[CellChange]) -> list[Group]:
    """Each change once, with all its places."""
    alike: dict[Any, Group] = {}
    for cell in cells:
        checks = tuple((change.check, change.before, change.after) for change in cell.checks)
        alike.setdefault((cell.trend, cell.scenario, cell.before, cell.after, checks), []).append(cell)
    return list(alike.values())


def places(group: Group) -> str:
    names = [f"{cell.transport} {cell.revision}" for cell in group]
    more = f" and {len(names) - PLACES} more" if len(names) > PLACES else ""
    return f"{', '.join(names[:PLACES])}{more}"


def _lines(difference: Difference) -> Iterator[str]:
    for group in groups(difference.cells):
        cell = group[0]
        title = f"{cell.trend.upper()} {cell.scenario} ({places(group)})"
        if cell.trend in ONE_SIDED:
            yield f"{title}: {cell.after if cell.trend is Trend.NEW else cell.before}"
            continue
        yield title
        yield f"  outcome   {cell.before} → {cell.after}{f': {line(cell.reason)}' if cell.reason else ''}"
        for change in cell.checks:
            yield from _check_lines(change)
        if cell.frame is not None:
            yield from frame_lines(cell.frame, "before", "after")
        yield ""


def _check_lines(change: CheckChange) -> Iterator[str]:
    yield f"  {change.check}: {change.before} → {change.after}"
    finding = change.finding
    if finding is not None:
        yield f"    {finding.requirement} ({finding.level}): {line(finding.statement)}"
        yield f"    expected  {line(finding.expected)}"
        yield f"    observed  {line(finding.observed)}"
        yield from (f"    reproduce {finding.reproduce}",) if finding.reproduce else ()


def frame_lines(frame: FrameDifference, old: str, new: str) -> Iterator[str]:
    yield f"  differs   {frame}"
    yield f"    {old:<9} {line(frame.before)}"
    yield f"    {new:<9} {line(frame.after)}"


def line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= WIDTH else f"{flat[:WIDTH]} …"


def _block(group: Group) -> str:
    cell = group[0]
    title = f"<b>{cell.trend}</b> {tag(cell.scenario)} {tag(cell.before)} → {tag(cell.after)}"
    return details(f"{title} ({escaped(places(group))})", _details(cell), is_open=cell.trend is Trend.WORSE)


def _details(cell: CellChange) -> Iterator[str]:
    if cell.reason:
        yield f"- {code(cell.reason)}"
    for change in cell.checks:
        yield f"- {code(change.check)}: {inline(change.before)} → {inline(change.after)}"
        if change.finding is not None:
            yield f"  - expected: {code(change.finding.expected)}"
            yield f"  - observed: {code(change.finding.observed)}"
    if cell.frame is not None:
        yield f"- differs: {code(str(cell.frame))}"
        yield f"  - before: {code(cell.frame.before)}"
        yield f"  - after: {code(cell.frame.after)}"
