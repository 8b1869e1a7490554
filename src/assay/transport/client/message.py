"""Messages of a client on their way: what it sends, and what it receives."""

from __future__ import annotations

from assay.model.client_error import InvalidAnswer
from assay.model.error import MalformedMessage
from assay.model.jsonrpc import ErrorReply, Notification, Reply, Request
from assay.model.limits import Limits
from assay.protocol.codec import decode

from .port import Receiver

Outgoing = Request | Notification | Reply | ErrorReply


def deliver(body: bytes, limits: Limits, receiver: Receiver) -> MalformedMessage | None:
    """Decode what arrived and pass it on. Returns why it is not a message; the request it answers, if that is
    readable, has failed then."""
    try:
        decoded = decode(body, limits)
    except MalformedMessage as error:
        _reject(error, receiver)
        return error
    problem = None
    for message in decoded if isinstance(decoded, list) else (decoded,):
        if isinstance(message, MalformedMessage):
            _reject(message, receiver)
            problem = message
        else:
            receiver.receive(message)
    return problem


def _reject(error: MalformedMessage, receiver: Receiver) -> None:
    if isinstance(error.request_id, str):
        receiver.fail(error.request_id, InvalidAnswer(f"the server's answer is invalid: {error.message}"))
