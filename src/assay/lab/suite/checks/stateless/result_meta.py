"""What results say of their server and of traces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from assay.lab.harness.check import check
from assay.lab.harness.driver.message_meta import SERVER_KEY
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.self_description import as_object, is_of

_MEMBER: Final = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+[ \t]*=[ \t]*[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*"
FORMATS: Final = {
    "traceparent": re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}.*"),
    "tracestate": re.compile(r"[ \t]*([a-z0-9][a-z0-9_\-*/@]*=[\x20-\x2b\x2d-\x3c\x3e-\x7e]+[ \t,]*)+"),
    "baggage": re.compile(rf"[ \t]*{_MEMBER}([ \t]*[,;][^,;]+)*[ \t]*"),
}
"""By W3C Trace Context and W3C Baggage; a later version of `traceparent` may have more at its end."""


@check(
    "Results name their server, and traces by the W3C formats", rows=("META-11", "META-13"), everywhere=True
)
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.result is not None and is_of(exchange, trace.revision):
            meta = as_object(exchange.result.get("_meta"))
            named = isinstance(as_object(meta.get(SERVER_KEY)).get("name"), str)
            yield observe("META-11", named, exchange, expected=f"`_meta` with {SERVER_KEY}", observed="none")
    for message in trace.received:
        meta = as_object((message.result or message.params).get("_meta"))
        for key in FORMATS.keys() & meta.keys():
            value = meta[key]
            holds = isinstance(value, str) and FORMATS[key].fullmatch(value) is not None
            yield observe(
                "META-13", holds, message, expected=f"{key} as the W3C writes it", observed=repr(value)
            )
