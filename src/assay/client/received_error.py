"""Errors of a server as exceptions."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from assay.model.client_error import ClientError, InvalidAnswer, ServerError
from assay.model.jsonrpc import ErrorBody

_read_error: Final = msgspec.json.Decoder(ErrorBody).decode


def received_error(raw: Raw | UnsetType) -> ClientError:
    """The exception for a JSON-RPC error."""
    try:
        error = _read_error(b"{}" if isinstance(raw, UnsetType) else raw)
    except (msgspec.DecodeError, RecursionError):
        return InvalidAnswer("the server answered with an error that has no code and message")
    return ServerError(error.code, error.message, None if error.data is UNSET else error.data)
