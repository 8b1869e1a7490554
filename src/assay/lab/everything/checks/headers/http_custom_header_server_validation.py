"""Headers of parameters are decoded and compared with the arguments, where a right one is taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.everything.declaring import official_check
from assay.lab.everything.header_probe import identity, is_served, refused, served
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation
from assay.lab.suite.mirrored import Mirror, param_mirrors

DECODED: Final = "sep-2243-server-decode-base64"
STATUS: Final = "sep-2243-server-reject-invalid-param-chars"
CODE: Final = "sep-2243-server-reject-param-mismatch"
LITERAL: Final = "sep-2243-server-validate-param-match"


@official_check(
    "http-custom-header-server-validation",
    "Headers of parameters must repeat the arguments",
    rows=(DECODED, STATUS, CODE, LITERAL),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    lists = trace.exchanges("tools/list")
    tools = {str(tool.get("name")): tool for one in lists for tool in one.objects("tools")}
    working: set[str] = set()
    for call in trace.calls:
        mirrors = [mirror for _, mirror in param_mirrors(call, tools) if mirror.told is not None]
        flawed = [one for one in mirrors if one.flaw is not None]
        if mirrors and not flawed:
            encoded = any(one.is_encoded for one in mirrors)
            yield served(DECODED if encoded else LITERAL, call, _told(mirrors))
            working |= {identity(call)} if is_served(call) else set()
        elif flawed and identity(call) in working:
            yield from refused(STATUS, CODE, call, _told(flawed))


def _told(mirrors: list[Mirror]) -> str:
    return "; ".join(f"{one.header} is {one.given!r} for the argument {one.told!r}" for one in mirrors)
