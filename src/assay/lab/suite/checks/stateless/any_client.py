"""A server is the same to every client, whatever name that gives."""

from __future__ import annotations

import json
from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.driver.message_meta import CLIENT_KEY
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.self_description import capabilities_of, is_of, meta_of


@check("The name of a client changes nothing", rows=("META-12",))
def judge(trace: Trace) -> Iterator[Observation]:
    first: dict[str, Exchange] = {}
    for exchange in trace.exchanges("server/discover"):
        if exchange.answer is None or not is_of(exchange, trace.revision):
            continue
        before = first.setdefault(json.dumps(capabilities_of(exchange), sort_keys=True), exchange)
        if meta_of(exchange).get(CLIENT_KEY) != meta_of(before).get(CLIENT_KEY):
            yield observe(
                "META-12",
                _offer(exchange) == _offer(before),
                before,
                exchange,
                expected="the same versions and capabilities for two clients that differ in `clientInfo`",
                observed=exchange,
            )


def _offer(exchange: Exchange) -> tuple[object, object]:
    result = exchange.result or {}
    return result.get("supportedVersions"), result.get("capabilities")
