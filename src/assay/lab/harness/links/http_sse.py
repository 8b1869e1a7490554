"""HTTP+SSE of the first revision: one stream for all messages of the server, one URL to POST to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urljoin

from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.trace.trace import events_of
from assay.revisions.revision import Revision

from .broken_off import BrokenOff, Gone, Unreachable
from .http import HttpLink
from .http_call import Address
from .http_text import EVENT_STREAM, Head
from .identity import DEFAULT_IDENTITY, Identity
from .link import Inbox, Sent

ENDPOINT: Final = "endpoint"


class HttpSseLink:
    def __init__(
        self,
        url: str,
        inbox: Inbox,
        recorder: Recorder,
        revision: Revision,
        *,
        name: str,
        patience: float,
        headers: Mapping[str, str],
        identity: Identity = DEFAULT_IDENTITY,
    ) -> None:
        self._url = url
        self._inbox = inbox
        self._patience = patience
        self._endpoint: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._http = HttpLink(
            url, self, recorder, revision, name=name, patience=patience, headers=headers, identity=identity
        )
        self._stream: Sent | None = None

    @property
    def is_local(self) -> bool:
        return self._http.is_local

    def use_token(self, token: str | None) -> None:
        self._http.use_token(token)

    async def open(self) -> None:
        self._stream = await self._http.call("GET", headers={"Accept": EVENT_STREAM})
        try:
            async with asyncio.timeout(self._patience):
                target = await self._endpoint
        except TimeoutError:
            raise Unreachable(f"no `endpoint` event within {self._patience:g} s") from None
        self._http.address = self._beside(target)

    def _beside(self, target: str) -> Address:
        """The address in the `endpoint` event. Another origin is refused: credentials are sent there."""
        try:
            address = Address.of(urljoin(self._url, target))
        except ValueError as error:
            raise Unreachable(f"the `endpoint` event has no valid address: {error}") from None
        if (address.authority, address.secure) != (self._http.address.authority, self._http.address.secure):
            raise Unreachable(f"the `endpoint` event names another origin: {target}")
        return address

    def agreed(self, head: Head | None, version: str) -> None:
        """Nothing to do: the stream is the session."""

    async def send(self, body: bytes, message: Any, headers: Mapping[str, str | None]) -> Sent:
        sent = await self._http.call("POST", body, {"Content-Type": "application/json", **headers})
        await sent.settled(self._patience)
        assert self._stream is not None
        # Answers arrive on the stream: they end with it, not with the response to the POST.
        answered = Sent(self._stream.channel)
        answered.settle()
        return answered

    def deliver(self, frame: Frame, body: bytes) -> None:
        if frame.kind is not Kind.EVENT:
            return  # the body of a response to a POST has no meaning
        for event in events_of(frame):
            if event.event == ENDPOINT and not self._endpoint.done():
                self._endpoint.set_result(event.data.decode("utf-8", "replace"))
            elif event.event == "message":
                self._inbox.deliver(frame, event.data)

    def ended(self, channel: str) -> None:
        if self._stream is None or channel != self._stream.channel:
            return
        if not self._endpoint.done():
            self._endpoint.set_exception(Unreachable("the stream ended before its `endpoint` event"))
        self._inbox.fail(Gone("the subject ended the stream"))

    def fail(self, reason: BrokenOff) -> None:
        self._inbox.fail(reason)

    async def close(self) -> None:
        await self._http.close()
        if not self._endpoint.done():
            self._endpoint.cancel()
