"""Versions that are not spoken are refused, and those that are get named."""

from __future__ import annotations

import json
from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.message_meta import VERSION_KEY
from assay.lab.harness.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.self_description import as_object, meta_of
from assay.model.error import UNSUPPORTED_VERSION
from assay.revisions.registry import BY_DATE


@check("A version that is not spoken is refused, and others are offered", rows=("VER-01", "VER-10"))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        version = meta_of(exchange).get(VERSION_KEY)
        if isinstance(version, str) and version not in BY_DATE and exchange.answer is not None:
            problem = _problem(exchange, version, trace.revision.date)
            expected = f"error {UNSUPPORTED_VERSION} with `supported` and `requested`"
            yield observe("VER-01", problem is None, exchange, expected=expected, observed=problem)
    known = _supported(trace)
    for exchange in trace.exchanges("initialize"):
        if exchange.answer is not None and exchange.answer.error and known:
            told = json.dumps(exchange.answer.error)
            named = any(one in told for one in known)
            yield observe(
                "VER-10", named, exchange, expected="an error that names versions", observed=exchange
            )


def _problem(exchange: Exchange, version: str, spoken: str) -> str | None:
    if exchange.code != UNSUPPORTED_VERSION or exchange.answer is None:
        return str(exchange)
    data = as_object(exchange.answer.error.get("data"))
    supported = data.get("supported")
    if not isinstance(supported, list) or spoken not in supported:
        return f"`data.supported` does not list {spoken}: {supported}"
    if version in supported:
        return f"`data.supported` lists {version}, which was refused"
    return None if data.get("requested") == version else f"`data.requested` is {data.get('requested')!r}"


def _supported(trace: Trace) -> list[str]:
    lists = (exchange.items("supportedVersions") for exchange in trace.exchanges("server/discover"))
    return [one for versions in lists for one in versions if isinstance(one, str)]
