"""Standard headers that do not repeat the body are refused, where right ones are not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.everything.declaring import official_check
from assay.lab.everything.header_probe import identity, is_served, refused, served
from assay.lab.harness.links.http_text import HEAD_END
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation
from assay.lab.suite.mirrored import Mirror, standard_mirrors

PROBED: Final = ("tools/list", "tools/call")
SETUP: Final = "sep-2243-server-standard-setup"
STATUS: Final = "sep-2243-server-reject-invalid-headers"
CODE: Final = "sep-2243-server-reject-error-code"
SPACES: Final = "sep-2243-server-accepts-whitespace-header-value"
LETTERS: Final = "sep-2243-header-name-case-insensitive"


@official_check(
    "http-header-validation",
    "Standard headers must repeat the body",
    rows=(SETUP, STATUS, CODE, SPACES, LETTERS),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    calls = [one for one in trace.calls if any(asked.method in PROBED for asked in one.asked)]
    mirrored = [(call, standard_mirrors(call, trace.revision)) for call in calls]
    working: set[str] = set()
    for call, mirrors in mirrored:
        flawed = [one for one in mirrors if one.flaw is not None]
        if mirrors and not flawed:
            yield from _taken(call, mirrors)
            working |= {identity(call)} if is_served(call) else set()
        elif len(flawed) == 1 and identity(call) in working:
            flaw = flawed[0].flaw
            why = f"{flawed[0].header} is {flaw.value if flaw else ''}"
            yield from refused(STATUS, CODE, call, why)


def _taken(call: Call, mirrors: list[Mirror]) -> Iterator[Observation]:
    odd = [one.spelled for one in mirrors if one.spelled != one.header]
    if odd:
        yield served(LETTERS, call, f"{odd[0]} is the name of a header in other letters")
    elif spaced := [one.header for one in mirrors if _has_spaces(call, one)]:
        yield served(SPACES, call, f"spaces around the value of {spaced[0]} are no part of it")
    else:
        yield served(SETUP, call, "its headers repeat the body")


def _has_spaces(call: Call, mirror: Mirror) -> bool:
    head = call.request.raw.partition(HEAD_END)[0].lower()
    return f"\r\n{mirror.header.lower()}:   ".encode() in head
