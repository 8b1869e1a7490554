"""Batches, in the revision that supports them and in those that forbid them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness import FaultContext, Observation, Stage, Trace, check, observe, on_batch, scenario
from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.links.broken_off import NoAnswer
from assay.lab.harness.sabotage.saboteur import LocalAnswer
from assay.lab.harness.trace.message import same_id
from assay.model.error import INVALID_REQUEST, PARSE_ERROR
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Batching, Revision

from .notifications import BATCHED

# --- what is asked


FIRST: Final = [revision.batching for revision in REVISIONS].index(Batching.ACCEPTED)


def _defines_batches(revision: Revision) -> bool:
    """Earlier revisions neither allow nor forbid arrays."""
    return REVISIONS.index(revision) >= FIRST


@scenario(
    "Send messages in a batch",
    exercises=("jsonrpc.batches", "jsonrpc.silent-notifications", "jsonrpc.version"),
    window=_defines_batches,
)
async def drive_batch(stage: Stage) -> None:
    refused = stage.revision.batching is Batching.REFUSED
    peer = await (stage.open_apart() if refused else stage.open())
    params = declared(stage.revision, {}, {})
    request = {"jsonrpc": "2.0", "method": stage.plain, "params": params}
    # A notification that every server knows: how it treats unknown ones is judged elsewhere.
    cancelled = {"requestId": "no-such-request"}
    notification = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}
    await peer.request(stage.plain)
    if refused:
        async with peer.probe("refused batch"):
            await peer.offer([{**request, "id": "first"}, {**request, "id": "second"}])
        return
    async with peer.probe("batch"):
        # The check judges silence, after the sentinel.
        with contextlib.suppress(NoAnswer):
            await peer.batch({**request, "id": "first"}, notification, {**request, "id": "second"})
    async with peer.probe("notification", what=BATCHED):
        await peer.offer([notification, notification])


# --- how it is judged


@check("Batches are accepted", requirements=("BASE-14",))
def judge_batches(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("batch"):
        for request in probe.sent:
            if request.place is not None and "id" in request.fields:
                answer = next((answer for answer in probe.answers if same_id(answer.id, request.id)), None)
                yield observe(
                    "BASE-14",
                    answer is not None and answer.code not in (INVALID_REQUEST, PARSE_ERROR),
                    probe,
                    expected=f"a response to the request with id {request.id!r} in the batch",
                    observed=answer or next(iter(probe.answers), "no response"),
                )


# --- what the checks must catch


@on_batch("answers only the first request of a batch", breaks="BASE-14", silent=True)
def batch_first_only(members: list[Any], context: FaultContext) -> list[Any]:
    return members[:1]


@on_batch("refuses a batch", breaks="BASE-14")
def batch_refused(members: list[Any], context: FaultContext) -> LocalAnswer:
    error = {"code": INVALID_REQUEST, "message": "expected an object"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": None, "error": error}])
