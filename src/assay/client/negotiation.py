"""Drives the requests that agree on a revision, and decides which failures say something about it."""

from __future__ import annotations

import asyncio
from typing import Any, Final, Protocol

from msgspec import Raw

from assay.model.client_error import (
    ClientError,
    ConnectionFailed,
    HttpFailure,
    InvalidAnswer,
    ServerError,
    Timeout,
)
from assay.protocol.opening import Agreement, Attempt, Refusal, agree
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Opening, Revision
from assay.transport.client.port import Link

from .remembered import forget, needs_older, recall, remember, remember_older
from .settings import Settings

SAYS_NOTHING: Final = frozenset({401, 403, 407, 408, 421, 429, 502, 503, 504, *range(300, 400)})
"""Statuses that do not depend on the revision: trying another would hide the reason."""


class Conversation(Protocol):
    """A connection that is open, but without a revision."""

    link: Link
    offered: Revision

    async def exchange(self, method: str, params: dict[str, Any] | None, revision: Revision) -> Raw: ...

    async def renew(self) -> None:
        """Connect again: the server ended the connection."""

    async def switch(self, link: Link) -> None:
        """Use another link."""


async def negotiate(conversation: Conversation, settings: Settings) -> Agreement:
    """
    Raises:
        ClientError: the server cannot be reached, or does not agree to a revision.
    """
    pinned, endpoint = settings.pinned, conversation.link.endpoint
    may_be_older = pinned is None or pinned.opening is not Opening.PER_REQUEST
    if may_be_older and needs_older(endpoint):
        try:
            return await _agree_on(conversation, conversation.link.fallback(None), settings)
        except ClientError:
            forget(endpoint)  # it may have been replaced by a newer server
            await conversation.renew()
    try:
        return await _agree(conversation, settings)
    except HttpFailure as error:
        older = conversation.link.fallback(error) if may_be_older else None
        if older is None:
            raise
        refusal = error
    agreement = await _agree_on(conversation, older, settings, refusal)
    remember_older(endpoint)
    return agreement


async def _agree_on(
    conversation: Conversation, older: Link | None, settings: Settings, refusal: ClientError | None = None
) -> Agreement:
    """Agree over a link of an older transport. `refusal` is why, and the error if there is no such server."""
    assert older is not None
    remember(older.endpoint, HANDSHAKE[-1])  # so that nothing comes before `initialize`
    try:
        await conversation.switch(older)
    except ClientError as error:
        raise refusal or error from error
    return await _agree(conversation, settings)


async def _agree(conversation: Conversation, settings: Settings) -> Agreement:
    endpoint = conversation.link.endpoint
    steps = agree(settings.identity, settings.pinned, recall(endpoint))
    attempt = next(steps)
    while True:
        outcome = await _try(conversation, attempt, settings)
        try:
            attempt = steps.send(outcome)
        except StopIteration as finished:
            agreement: Agreement = finished.value
            if settings.pinned is None:
                remember(endpoint, agreement.revision)
            return agreement
        except ClientError:
            forget(endpoint)
            raise


async def _try(conversation: Conversation, attempt: Attempt, settings: Settings) -> Raw | Refusal:
    if attempt.fresh:
        await conversation.renew()
    link, conversation.offered = conversation.link, attempt.revision
    is_probe = attempt.method == "server/discover" and settings.pinned is None
    # A handshake may follow. Over HTTP each request has its own answer, so silence is no reason for one.
    patience = settings.limits.probe_timeout if is_probe and not link.is_stateless else None
    try:
        async with asyncio.timeout(patience):
            return await conversation.exchange(attempt.method, attempt.params, attempt.revision)
    except ServerError as error:
        return Refusal(error, error.code, error.data, error.status)
    except HttpFailure as error:
        if error.status in SAYS_NOTHING:
            raise
        return Refusal(error)
    except TimeoutError:
        if patience is None:
            raise
        return Refusal(Timeout(f"no answer to {attempt.method} in {patience:g} s{link.context()}"))
    except ConnectionFailed as error:
        if link.is_stateless or not is_probe:
            raise
        return Refusal(error, ended=True)
    except InvalidAnswer as error:
        return Refusal(error)
