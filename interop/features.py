"""The reports of the clients as one table: client, revision, transport, feature.

A cell is ✓ (worked), ✗ (failed or not reported) or a dash (the transport or revision does not have the
feature). Only features in `not_applicable` may be a dash: a client cannot skip the others.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum

# `close` is observed by the runner: the program exited with code 0.
CLOSE = "close"
RESUME = "resume"
FEATURES = (
    *("connect", "tools", "image", "tool error", "resources", "templates", "prompts", "completion"),
    *("logging", "progress", "subscription", "sampling", "elicitation", "cancel", "pagination"),
    *("reconnect", "polling", RESUME, "delete session", "reference server", "own methods", CLOSE),
)
HANDSHAKE = "2025-11-25"
PER_REQUEST = "2026-07-28"
REVISIONS = (HANDSHAKE, PER_REQUEST)
TRANSPORTS = ("stdio", "http")
WIDEST = max(map(len, TRANSPORTS))
# These need a session or a resumable stream; stdio and the revision without a handshake have neither.
IN_SESSIONS = frozenset({"polling", RESUME, "delete session"})
BEGIN = "<!-- interop table: written by `make interop` -->"
END = "<!-- end of interop table -->"


class Mark(Enum):
    WORKS = "✓"
    FAILS = "✗"
    NO_API = "\N{EN DASH}"


@dataclass(frozen=True)
class Cell:
    mark: Mark
    detail: str


@dataclass(frozen=True)
class Column:
    """One client on one revision and transport, with a cell for every feature."""

    client: str
    revision: str
    transport: str
    cells: Mapping[str, Cell]

    @property
    def name(self) -> str:
        return f"{self.client}, {self.revision}, {self.transport}"


def not_applicable(revision: str, transport: str) -> frozenset[str]:
    return IN_SESSIONS if transport == "stdio" or revision == PER_REQUEST else frozenset()


def read_lines(
    lines: Iterable[str], excused: frozenset[str], problem: str, features: Sequence[str] = FEATURES
) -> dict[str, Cell]:
    """Turn the output of a client program into a cell for each feature; `problem` is how it failed, if it
    did.

    `excused` are the features that it may lack. An unreadable line counts against `close`.
    """
    cells: dict[str, Cell] = {}
    complaints = [problem] if problem else []
    for line in lines:
        try:
            feature, cell = read_line(line, excused, features)
        except ValueError as error:
            complaints.append(str(error))
            continue
        cells[feature] = Cell(Mark.FAILS, "reported twice") if feature in cells else cell
    missing = Cell(Mark.FAILS, ": ".join(["no line", *complaints[:1]]))
    cells[CLOSE] = (
        Cell(Mark.FAILS, "; ".join(complaints)) if complaints else Cell(Mark.WORKS, "exited normally")
    )
    return {feature: cells.get(feature, missing) for feature in features}


def read_line(line: str, excused: frozenset[str], features: Sequence[str]) -> tuple[str, Cell]:
    """
    Raises:
        ValueError: not a line of a report.
    """
    try:
        report = json.loads(line)
        feature, ok, detail = report["feature"], report["ok"], str(report["detail"])
    except (ValueError, TypeError, KeyError):
        raise ValueError(f"not a line of a report: {line.strip()[:200]}") from None
    if feature not in features or feature == CLOSE:
        raise ValueError(f"unknown feature: {feature!r}")
    if ok is True:
        return feature, Cell(Mark.WORKS, detail)
    if ok is None and feature in excused:
        return feature, Cell(Mark.NO_API, detail)
    return feature, Cell(Mark.FAILS, f"skipped: {detail}" if ok is None else detail)


def rows(columns: Sequence[Column]) -> list[str]:
    """The features of the columns; each column has all of them, in the same order."""
    return list(columns[0].cells) if columns else []


def is_complete(columns: Sequence[Column]) -> bool:
    """Whether every cell is present and none failed. Without columns nothing is proved."""
    return bool(columns) and not any(failures(columns))


def failures(columns: Iterable[Column]) -> list[str]:
    return [
        f"{column.name}: {feature}: {one_line(cell.detail)}"
        for column in columns
        for feature, cell in column.cells.items()
        if cell.mark is Mark.FAILS
    ]


def reasons(columns: Sequence[Column]) -> list[str]:
    """The reasons for dashes, each once."""
    lines = {
        f"{feature} on {column.revision} over {column.transport}: {one_line(cell.detail)}": None
        for feature in rows(columns)
        for column in columns
        if (cell := column.cells[feature]).mark is Mark.NO_API
    }
    return list(lines)


def one_line(text: str, length: int = 300) -> str:
    return " ".join(text.split())[:length]


def table(columns: Sequence[Column]) -> str:
    """The table for a terminal, with failures and reasons for dashes below."""
    features = rows(columns)
    first = max(map(len, features))
    clients = Counter(column.client for column in columns)
    revisions = Counter((column.client, column.revision) for column in columns)
    widest = max(len(column.transport) for column in columns)
    shares = dict.fromkeys(clients, max(WIDEST, widest))
    # Each column gets its share of the width of the names above it.
    for (client, revision), count in revisions.items():
        shares[client] = max(shares[client], -(-len(client) // clients[client]), -(-len(revision) // count))

    def span(text: str, client: str, count: int) -> str:
        return f"{text:^{shares[client] * count + 2 * (count - 1)}}"

    def row(title: str, texts: Iterable[str]) -> str:
        cells = (span(text, column.client, 1) for text, column in zip(texts, columns, strict=True))
        return f"{title:<{first}}  " + "  ".join(cells)

    margin = " " * (first + 2)
    lines = [
        margin + "  ".join(span(client, client, count) for client, count in clients.items()),
        margin + "  ".join(span(revision, client, count) for (client, revision), count in revisions.items()),
        row("", (column.transport for column in columns)),
    ]
    for feature in features:
        lines.append(row(feature, (column.cells[feature].mark.value for column in columns)))
    lines += [f"{Mark.NO_API.value} {reason}" for reason in reasons(columns)]
    lines += [f"{Mark.FAILS.value} {failure}" for failure in failures(columns)]
    return "\n".join(line.rstrip() for line in lines)


def markdown(columns: Sequence[Column]) -> str:
    """The table for a page and the reasons for dashes, without values that change between runs."""
    lines = (f"- {Mark.NO_API.value} {reason}" for reason in reasons(columns))
    return "\n".join([markdown_table(columns), "", *lines])


def markdown_table(columns: Sequence[Column]) -> str:
    heads = (f"{column.client}<br>{column.revision}<br>{column.transport}" for column in columns)
    lines = [
        f"| feature | {' | '.join(heads)} |",
        "|---|" + ":-:|" * len(columns),
    ]
    for feature in rows(columns):
        marks = " | ".join(column.cells[feature].mark.value for column in columns)
        lines.append(f"| {feature} | {marks} |")
    return "\n".join(lines)


def with_block(page: str, block: str, marks: tuple[str, str] = (BEGIN, END)) -> str:
    """Put the block between the marks of a page.

    Raises:
        ValueError: the page lacks a mark.
    """
    before, begin, rest = page.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        raise ValueError(f"the page lacks the marks of the table: {' … '.join(marks)}")
    return f"{before}{begin}\n{block}\n{end}{after}"


def as_json(columns: Sequence[Column]) -> str:
    records = [
        {**asdict(column), "cells": {f: [c.mark.value, c.detail] for f, c in column.cells.items()}}
        for column in columns
    ]
    return json.dumps(records, indent=2, ensure_ascii=False) + "\n"
