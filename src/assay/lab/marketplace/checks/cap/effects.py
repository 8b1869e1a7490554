"""The result of a tool says what the call did, about the right call, and where that is written down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from assay.lab.harness.subject.registry_entry import as_object
from assay.lab.harness.trace.digest import TOLD, digest_of_json, is_digest
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.cap_effect import Summarised, summarised
from assay.lab.marketplace.cap_meta import EFFECTS
from assay.lab.marketplace.declaring import profile_check

FORM: Final = "CONF-CAP-03.tools.effects"
DIGESTS: Final = "CONF-CAP-03.tools.digests"
LEDGER: Final = "CONF-CAP-03.tools.ledger"
FIELDS: Final = "v, callId, tool, declared, effects, argsDigest, resultDigest and retention"


@profile_check("Results of tools tell of their effects", rows=(FORM, DIGESTS, LEDGER))
def judge(trace: Trace) -> Iterator[Observation]:
    calls = list(summarised(trace))
    for call in calls:
        yield _form(call)
        if call.summary is not None:
            yield from _digests(call, call.summary)
            yield _entry(call, call.summary)
    yield from _numbers(calls, one_process=trace.transport == Transport.STDIO)


def _form(call: Summarised) -> Observation:
    there = call.summary is not None
    return observe(
        FORM,
        there and not call.problems,
        call,
        expected=f'_meta["{EFFECTS}"] of the result, with {FIELDS} as the profile has them',
        observed=f"{call.name}: {'; '.join(call.problems)}" if there else f"{call.name}: no {EFFECTS}",
    )


def _digests(call: Summarised, summary: dict[str, Any]) -> Iterator[Observation]:
    over = {
        "argsDigest": call.exchange.params.get("arguments", {}),
        "resultDigest": (call.exchange.result or {}).get("content"),
    }
    for key, value in over.items():
        right = digest_of_json(value)
        if right is not None and is_digest(summary.get(key)):
            yield observe(
                DIGESTS,
                summary[key] == right,
                call,
                expected=f"{key} {right}, of the canonical JSON of what passed",
                observed=f"{call.name}: {summary[key]}",
            )


def _entry(call: Summarised, summary: dict[str, Any]) -> Observation:
    found = as_object(summary.get("ledger"))
    return observe(
        LEDGER,
        _number(call) is not None and is_digest(found.get("entryHash")),
        call,
        expected=f'"ledger" in {EFFECTS}: seq, a number, and entryHash, {TOLD}',
        observed=f"{call.name}: {summary.get('ledger')!r}",
    )


def _number(call: Summarised) -> int | None:
    found = as_object((call.summary or {}).get("ledger")).get("seq")
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def _hash(call: Summarised) -> Any:
    return as_object((call.summary or {}).get("ledger")).get("entryHash")


def _numbers(calls: Sequence[Summarised], *, one_process: bool) -> Iterator[Observation]:
    """No entry is of two calls. Behind one address there may be several ledgers; one process has one, and
    writes into it in order."""
    entered = [one for one in calls if _number(one) is not None and is_digest(_hash(one))]
    for one, later in pairwise(entered):
        first, second = (_number(one) or 0, _number(later) or 0)
        yield observe(
            LEDGER,
            _hash(one) != _hash(later) and (second > first or not one_process),
            one,
            later,
            expected="another entry for another call, and a higher number in the same ledger",
            observed=f"seq {first} for {one.name}, then {second} for {later.name}",
        )
