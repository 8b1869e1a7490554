"""A tool that asks a second time gives new state along, and is done after the second answer."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.everything.input_round import Wanted, asking_tool, asks_wrongly, done, rounds, state_in
from assay.lab.harness.driver.question import ELICIT
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

FIRST, SECOND, LAST = (f"sep-2322-multi-round-r{number}" for number in (1, 2, 3))
WANTED = Wanted((ELICIT,), state=True)


@official_check(
    "input-required-result-multi-round",
    "A tool asks again after the first answer",
    rows=(FIRST, SECOND, LAST),
)
def judge(trace: Trace) -> Iterator[Observation]:
    found = rounds(trace, asking_tool("multi_round"))
    before: Exchange | None = None
    for row, exchange in zip((FIRST, SECOND), found, strict=False):
        problem = asks_wrongly(exchange, WANTED) or _repeats(exchange, before)
        expected = f"{WANTED} that was not given out before"
        yield observe(row, problem is None, exchange, expected=expected, observed=problem)
        before = exchange
    for exchange in found[2:]:
        yield done(LAST, exchange)


def _repeats(exchange: Exchange, before: Exchange | None) -> str | None:
    same = before is not None and state_in(before) == state_in(exchange)
    return "the `requestState` of the round before" if same else None
