"""A trace context in `_meta` is written as the W3C has it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

from .own_words import meta_of

KEY = r"[a-z0-9][a-z0-9_\-*/@]*"
TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
FORMS = {
    "traceparent": re.compile(
        r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?"
    ),
    "tracestate": re.compile(rf"\s*({KEY}=[^,=]*)?(\s*,\s*({KEY}=[^,=]*)?)*\s*"),
    "baggage": re.compile(rf"\s*{TOKEN}\s*=[^,]*(\s*,\s*{TOKEN}\s*=[^,]*)*"),
}


@check("A trace context has its form", rows=("META-13",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        for key, form in FORMS.items():
            if key in (meta := meta_of(message)):
                right = isinstance(meta[key], str) and form.fullmatch(meta[key]) is not None
                expected = f"`{key}` in the form of the W3C"
                yield observe("META-13", right, message, expected=expected, observed=f"{meta[key]!r}")
