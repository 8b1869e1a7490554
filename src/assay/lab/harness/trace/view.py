"""One recording, as the lab sees a server and as it sees a client.

A recording has the client as driver and the server as subject. In the client's view it is the other way
round; frames about the server's process become marks, so that both views number the frames alike.
"""

from __future__ import annotations

from typing import Final

import msgspec

from assay.lab.harness.scenario import Role

from .frame import Frame, Kind, Sender
from .trace import Trace

CLIENT_PROCESS: Final = "client/process"
EXITED: Final = "exited"
"""Mark of the client's exit: only its steps show whether a status is a fault."""
BESIDE: Final = "beside"
"""Mark in place of a frame about the server's process."""
_OF_PROCESS: Final = frozenset({Kind.EXIT, Kind.ERRORS})
_OTHER: Final = {Sender.DRIVER: Sender.SUBJECT, Sender.SUBJECT: Sender.DRIVER}


def client_view(trace: Trace, client: str) -> Trace:
    header = msgspec.structs.replace(trace.header, role=Role.CLIENT.value, subject=client)
    return Trace(header, [_of_client(frame) for frame in trace.frames])


def _of_client(frame: Frame) -> Frame:
    if frame.kind in _OF_PROCESS:
        return Frame(frame.n, frame.t, Sender.DRIVER, frame.channel, Kind.MARK, b"", {"label": BESIDE})
    if frame.kind is Kind.MARK:
        return frame
    return msgspec.structs.replace(frame, sender=_OTHER[frame.sender])
