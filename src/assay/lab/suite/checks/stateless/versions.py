"""Versions that are not spoken are refused, and those that are get named."""

from __future__ import annotations

import json
from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.self_description import as_object, meta_of, reply_to, told
from assay.model.error import UNSUPPORTED_VERSION
from assay.revisions.registry import BY_DATE


@check("A version that is not spoken is refused, and others are offered", rows=("VER-01", "VER-10"))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        version = meta_of(exchange).get(VERSION_KEY)
        reply = reply_to(exchange, trace)
        answered = reply is not None or exchange.head is not None
        if isinstance(version, str) and version not in BY_DATE and answered:
            problem = _problem(reply, version, trace.revision.date)
            expected = f"error {UNSUPPORTED_VERSION} with `supported` and `requested`"
            observed = problem or told(exchange, reply)
            yield observe("VER-01", problem is None, exchange, expected=expected, observed=observed)
    known = _supported(trace)
    for exchange in trace.exchanges("initialize"):
        reply = reply_to(exchange, trace)
        if reply is not None and reply.error and known:
            text = json.dumps(reply.error)
            named = any(one in text for one in known)
            expected = "an error that names versions"
            yield observe("VER-10", named, exchange, expected=expected, observed=told(exchange, reply))


def _problem(reply: Message | None, version: str, spoken: str) -> str | None:
    if reply is None or reply.code != UNSUPPORTED_VERSION:
        return str(reply or "no JSON-RPC error")
    data = as_object(reply.error.get("data"))
    supported = data.get("supported")
    if not isinstance(supported, list) or spoken not in supported:
        return f"`data.supported` does not list {spoken}: {supported}"
    if version in supported:
        return f"`data.supported` lists {version}, which was refused"
    return None if data.get("requested") == version else f"`data.requested` is {data.get('requested')!r}"


def _supported(trace: Trace) -> list[str]:
    lists = (exchange.items("supportedVersions") for exchange in trace.exchanges("server/discover"))
    return [one for versions in lists for one in versions if isinstance(one, str)]
