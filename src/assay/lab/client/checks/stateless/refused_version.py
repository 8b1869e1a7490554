"""A client that is told that its version is not spoken here takes another that both have, or gives up."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import FIRST, is_over
from assay.lab.harness.check import check
from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import UNSUPPORTED_VERSION

from .own_words import meta_of

MOST = 3
"""Requests of one method in a version that was refused: more are no second thought, but a loop."""


@check("A refused version is not insisted on", rows=("VER-02", "VER-14", "VER-15"))
def judge(trace: Trace) -> Iterator[Observation]:
    refused = [one for one in trace.inquiries() if one.code == UNSUPPORTED_VERSION]
    if not refused or not is_over(trace):
        return
    first = refused[0]
    again = [one for one in trace.inquiries(first.method) if _version(one) == _version(first)]
    expected, observed = "another version or an error", f"{len(again)} times the same"
    yield observe("VER-02", len(again) <= MOST, *again[:MOST], expected=expected, observed=observed)
    begin = first.request.frame.n
    shaken = [one for one in trace.inquiries(FIRST) if one.request.frame.n > begin]
    row = "VER-15" if trace.transport == Transport.HTTP else "VER-14"
    if row == "VER-15" or first.method == "server/discover":
        expected = "no handshake after an error of a revision without one"
        yield observe(row, not shaken, first, *shaken[:1], expected=expected, observed=FIRST)


def _version(exchange: Exchange) -> object:
    return meta_of(exchange.request).get(VERSION_KEY)
