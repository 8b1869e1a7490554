"""Arguments that a tool marks are in headers, word for word; others are not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from assay.lab.client.fixtures.marked_tools import FEW, MANY, TOOLS
from assay.lab.client.owed import with_owed
from assay.lab.everything.declaring import official_check
from assay.lab.harness.driver.mirrored_header import as_header
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.mirrored import Mirror, as_text, asked, param_mirrors

SUPPORTED = "sep-2243-client-supports-custom-headers"
MIRRORED = "sep-2243-client-mirrors-designated-params"
ENCODED = "sep-2243-client-encode-values"
UNSAFE = "sep-2243-client-base64-unsafe"
NO_NULL = "sep-2243-client-omit-null"
PREFIX = "mcp-param-"
NUMBER = re.compile(r"-?\d{1,300}(\.\d{1,300})?", re.ASCII)
OWED = dict.fromkeys((SUPPORTED, MIRRORED, ENCODED, UNSAFE), f"a call of {MANY} with its arguments") | {
    NO_NULL: f"a call of {FEW}"
}


@official_check(
    "http-custom-headers", "Marked arguments are repeated", rows=tuple(OWED), transports=HTTP_ONLY
)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from with_owed(trace, _seen(trace), OWED)


def _seen(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        name = _tool(call)
        if name in TOOLS:
            yield from _judged(call, name, [mirror for _, mirror in param_mirrors(call, TOOLS)])


def _tool(call: Call) -> Any:
    message = asked(call)
    name = message.params.get("name") if message and message.method == "tools/call" else None
    return name if isinstance(name, str) else None


def _judged(call: Call, name: str, mirrors: list[Mirror]) -> Iterator[Observation]:
    headers = [key for key, _ in call.sent.headers if key.lower().startswith(PREFIX)]
    if name == MANY:
        told = ", ".join(headers) or "none"
        yield observe(SUPPORTED, bool(headers), call, expected="headers Mcp-Param-*", observed=told)
    marked = {mirror.header.lower() for mirror in mirrors}
    strays = [key for key in headers if key.lower() not in marked]
    expected = "headers of marked parameters only"
    yield observe(MIRRORED, not strays, call, expected=expected, observed=", ".join(strays))
    for mirror in mirrors:
        if mirror.told is not None:
            yield _repeated(call, mirror)
        else:
            told = f"{mirror.header} {mirror.given!r}"
            expected = f"no {mirror.header}"
            yield observe(NO_NULL, mirror.given is None, call, expected=expected, observed=told)


def _repeated(call: Call, mirror: Mirror) -> Observation:
    text = as_text(mirror.told)
    unsafe = as_header(text) != text
    row = UNSAFE if unsafe else MIRRORED if isinstance(mirror.told, str) else ENCODED
    holds = _says(mirror) and (mirror.is_encoded or not unsafe)
    told = f"{mirror.header}: {mirror.given!r}" if mirror.given is not None else "no such header"
    return observe(row, holds, call, expected=f"{mirror.header}: {as_header(text)}", observed=told)


def _says(mirror: Mirror) -> bool:
    """Whether it says the same as the body; numbers are compared as such."""
    if mirror.flaw is None:
        return True
    if isinstance(mirror.told, bool) or not isinstance(mirror.told, int | float):
        return False
    return NUMBER.fullmatch(mirror.read() or "") is not None and float(mirror.read() or "") == mirror.told
