"""The squares of the grid: one for each pair, with its letter, colour and label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from assay.lab.matrix.definition import Matrix, Party
from assay.lab.matrix.pair import Blame, Pair, PairResult, Status

OK, WORKS, FAULTY, UNSUPPORTED, NOT_RUN, UNKNOWN = (
    "ok",
    "works",
    "faulty",
    "unsupported",
    "not-run",
    "unknown",
)
LETTERS: Final = {Blame.CLIENT: "C", Blame.SERVER: "S", Blame.BOTH: "B"}


class Square(Struct, frozen=True):
    pair: Pair
    kind: str
    letter: str
    label: str


class Head(Struct, frozen=True):
    """A client or a server, with what its pairs came to."""

    name: str
    title: str
    ok: int
    ran: int
    """Pairs that could be run, and that both support."""
    blamed: int
    """Pairs in which it is at fault."""


class Row(Struct, frozen=True):
    head: Head
    cells: list[list[list[Square]]]
    """For each server: a line for each transport with a square for each revision."""


class Legend(Struct, frozen=True):
    kind: str
    letter: str
    text: str
    count: int


def title_of(parties: Mapping[str, Party], name: str) -> str:
    return parties[name].title or name


def square(pair: Pair, result: PairResult | None) -> Square:
    kind, letter = kind_of(result)
    label = f"{pair}: not run yet" if result is None else f"{pair}: {described(result)}"
    return Square(pair, kind, letter, label)


def kind_of(result: PairResult | None) -> tuple[str, str]:
    if result is None:
        return UNKNOWN, "\N{MIDDLE DOT}"
    match result.status:
        case Status.OK:
            return OK, "\N{CHECK MARK}"
        case Status.FAULTY:
            return (WORKS if result.works and result.rules else FAULTY), LETTERS.get(result.blame, "?")
        case Status.UNSUPPORTED:
            return UNSUPPORTED, "\N{EN DASH}"
    return NOT_RUN, "!"


def described(result: PairResult) -> str:
    blame = f" (fault of {'both' if result.blame is Blame.BOTH else f'the {result.blame}'})"
    status = str(result.status) + (blame if result.status is Status.FAULTY and result.blame else "")
    return f"{status}: {result.reason}" if result.reason else status


def rows(matrix: Matrix, results: dict[Pair, PairResult]) -> list[Row]:
    return [
        Row(
            _head(client, title_of(matrix.clients, client), _of(results, client=client), Blame.CLIENT),
            [_cell(matrix, results, client, server) for server in matrix.servers],
        )
        for client in matrix.clients
    ]


def heads(matrix: Matrix, results: dict[Pair, PairResult]) -> list[Head]:
    """Of the servers."""
    return [
        _head(server, title_of(matrix.servers, server), _of(results, server=server), Blame.SERVER)
        for server in matrix.servers
    ]


def legend(matrix: Matrix, results: dict[Pair, PairResult]) -> list[Legend]:
    counts = Counter(kind_of(results.get(pair))[0] for pair in matrix.pairs())
    texts = (
        (OK, "\N{CHECK MARK}", "ok: every step worked, and the lab found no fault"),
        (WORKS, "C S B", "every step worked, but client, server or both broke a rule"),
        (FAULTY, "C S B ?", "a step failed: fault of the client, the server, both, or unclear"),
        (UNSUPPORTED, "\N{EN DASH}", "not supported by one of them"),
        (NOT_RUN, "!", "could not run"),
        (UNKNOWN, "\N{MIDDLE DOT}", "not run yet"),
    )
    return [Legend(kind, letter, text, counts[kind]) for kind, letter, text in texts if counts[kind]]


def _cell(matrix: Matrix, results: dict[Pair, PairResult], client: str, server: str) -> list[list[Square]]:
    return [
        [
            square(pair := Pair(client, server, transport, revision), results.get(pair))
            for revision in matrix.revisions
        ]
        for transport in matrix.transports
    ]


def _of(results: dict[Pair, PairResult], *, client: str = "", server: str = "") -> list[PairResult]:
    return [
        result
        for pair, result in results.items()
        if client in ("", pair.client) and server in ("", pair.server)
    ]


def _head(name: str, title: str, results: Iterable[PairResult], side: Blame) -> Head:
    ran = [result for result in results if result.status in (Status.OK, Status.FAULTY)]
    blamed = [result for result in ran if result.blame in (side, Blame.BOTH)]
    return Head(name, title, sum(result.status is Status.OK for result in ran), len(ran), len(blamed))
