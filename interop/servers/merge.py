"""The columns of one server and transport as one: a page with a column per revision would be too wide."""

from __future__ import annotations

from collections.abc import Sequence

from interop.features import Cell, Column, Mark
from interop.servers.table import Table


def merged(columns: Sequence[Column]) -> list[Column]:
    """One column for each server and transport. A feature works if it does on every revision that has it."""
    groups: dict[tuple[str, str], list[Column]] = {}
    for column in columns:
        groups.setdefault((column.client, column.transport), []).append(column)
    return [
        Column(client, revisions_of(group), transport, {f: merged_cell(group, f) for f in group[0].cells})
        for (client, transport), group in groups.items()
    ]


def revisions_of(group: Sequence[Column]) -> str:
    dates = sorted(column.revision for column in group)
    return dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"


def merged_cell(group: Sequence[Column], feature: str) -> Cell:
    cells = [(column.revision, column.cells[feature]) for column in group]
    failed = [f"{revision}: {cell.detail}" for revision, cell in cells if cell.mark is Mark.FAILS]
    if failed:
        return Cell(Mark.FAILS, "; ".join(failed))
    return next((cell for _, cell in cells if cell.mark is Mark.WORKS), cells[0][1])


def lacks(table: Table) -> str:
    """What servers do not offer, as a list for a page."""
    titles = {server.name: f"{server.title} {server.version()}" for server in table.server}
    lines = []
    for lack in table.lack:
        where = [*(titles[name] for name in lack.servers), *lack.transports, *lack.revisions]
        lines.append(f"- {Mark.NO_API.value} {', '.join(lack.features)} ({', '.join(where)}): {lack.reason}")
    return "\n".join(lines)
