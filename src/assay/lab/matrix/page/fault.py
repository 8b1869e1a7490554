"""The faults of each client and server, each once, with the pairs that show it."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from assay.lab.matrix.definition import Matrix
from assay.lab.matrix.pair import Blame, Pair, PairResult, StepStatus

_VARYING: Final = re.compile(r"\d+|'[^']*'|\"[^\"]*\"")
MOST: Final = 200


class Fault(Struct):
    side: str
    name: str
    title: str
    requirement: str
    link: str
    pairs: list[Pair]


def faults(matrix: Matrix, results: dict[Pair, PairResult]) -> list[Fault]:
    """Those that the most pairs show first, for each party."""
    known: dict[tuple[str, str, str], Fault] = {}
    for pair, result in results.items():
        for rule in result.rules:
            party = pair.client if rule.blame is Blame.CLIENT else pair.server
            fault = Fault(rule.blame, party, rule.title, rule.requirement, rule.link, [])
            _add(known, (rule.blame, party, rule.requirement), fault, pair)
        for step in result.steps:
            if step.status is StepStatus.FAILED:
                party = pair.client if step.blame is Blame.CLIENT else pair.server
                fault = Fault(step.blame, party, f"{step.name}: {step.detail}", "", "", [])
                _add(known, (step.blame, party, step.name + _VARYING.sub("", step.detail)), fault, pair)
    order = {name: number for number, name in enumerate((*matrix.clients, *matrix.servers))}
    ranked = sorted(known.values(), key=lambda fault: (fault.side, order[fault.name], -len(fault.pairs)))
    return ranked[:MOST]


def _add(
    known: dict[tuple[str, str, str], Fault], key: tuple[str, str, str], fault: Fault, pair: Pair
) -> None:
    pairs = known.setdefault(key, fault).pairs
    if pair not in pairs:
        pairs.append(pair)
