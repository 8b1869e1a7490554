"""What is no message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.fixtures.hostility import undeterred
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "HOSTILE-04"
NOT_UTF8: Final = "not_utf8"
DEPTH: Final = 100_000
_LOG: Final = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%b}}'
RUBBISH: Final = {
    "plain_text": b"Listening on port 8080",
    "blank": b"",
    "broken_off": _LOG[:40],
    "number": b"42",
    "null": b"null",
    "empty_list": b"[]",
    "empty_object": b"{}",
    "no_message": b'{"hello":"world"}',
    "params_of_text": b'{"jsonrpc":"2.0","method":"notifications/message","params":"none"}',
    "too_deep": _LOG % (b"[" * DEPTH + b"]" * DEPTH),
    NOT_UTF8: _LOG % b'"\xff\xfe"',
}
"""What the host says before it answers the call of that name."""


@check("What is no message ends nothing", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    return undeterred(ROW, trace, RUBBISH, "the client to go on, and to hear the answer", heard=True)
