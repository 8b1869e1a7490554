"""What `notifications/cancelled` says."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from assay.model.error import RpcError
from assay.model.jsonrpc import Envelope, RequestId

from .codec import decode_params


class Cancellation(Struct, rename="camel"):
    request_id: RequestId
    reason: str | None = None


_decode = msgspec.json.Decoder(Cancellation).decode


def read_cancellation(message: Envelope) -> Cancellation | None:
    """None if it is malformed: malformed, unknown and late cancellations are ignored
    (basic/utilities/cancellation)."""
    try:
        return decode_params(message.params, _decode)
    except RpcError:
        return None
