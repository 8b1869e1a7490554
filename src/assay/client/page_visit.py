"""Errors that ask the user to visit a page before a request can be served (client/elicitation)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Raw, Struct

from assay.model.client_error import ServerError
from assay.model.error import RpcError

if TYPE_CHECKING:
    from .answer import Handlers

METHOD: Final = "elicitation/create"


class _Elicitation(Struct, rename="camel"):
    elicitation_id: str
    url: str
    message: str
    mode: str = "url"


class _Complete(Struct, rename="camel"):
    elicitation_id: str


class _Data(Struct):
    elicitations: list[_Elicitation]


class Completions:
    """Which visits the server has reported as complete, of those that are awaited."""

    def __init__(self) -> None:
        self._awaited: dict[str, asyncio.Event] = {}

    def take(self, params: Raw) -> None:
        """Take `notifications/elicitation/complete`. Unknown ids are ignored, as the specification says."""
        event = self._awaited.get(msgspec.json.decode(params, type=_Complete).elicitation_id)
        if event is not None:
            event.set()

    async def visit(self, error: ServerError, handlers: Handlers, timeout: float | None, most: int) -> bool:
        """Ask the user to visit the pages of an error, and wait until the server reports each as complete.

        Returns whether to send the request again: no handler, a refusal, or no report in time are reasons
        against it.
        """
        pages = _read(error.data, most)
        events = {page.elicitation_id: asyncio.Event() for page in pages}
        if not pages or handlers.elicitation is None or not self._awaited.keys().isdisjoint(events):
            return False
        self._awaited |= events  # before the handler is called: users may be quick
        try:
            for page in pages:
                if not await _is_accepted(page, handlers):
                    return False
            async with asyncio.timeout(timeout):
                for event in events.values():
                    await event.wait()
        except TimeoutError:
            return False
        finally:
            for elicitation_id in events:
                del self._awaited[elicitation_id]
        return True


async def _is_accepted(page: _Elicitation, handlers: Handlers) -> bool:
    try:
        answer: Any = await handlers.answer(METHOD, Raw(msgspec.json.encode(page)))
    except RpcError:
        return False  # the client does not support pages
    return bool(answer["action"] == "accept")


def _read(data: Any, most: int) -> list[_Elicitation]:
    """The pages of an error; none if it is invalid or asks for too many."""
    try:
        pages = msgspec.convert(data, _Data).elicitations
    except msgspec.ValidationError:
        return []
    is_valid = len(pages) <= most and all(page.mode == "url" for page in pages)
    return pages if is_valid and len({page.elicitation_id for page in pages}) == len(pages) else []
