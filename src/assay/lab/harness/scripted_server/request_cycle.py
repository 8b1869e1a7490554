"""A message of the client, with the ways to answer it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.revisions.revision import Asking, Opening, Revision

from .answer import InputNeeded, Json
from .channel import Channel
from .http_server import InboundRequest

if TYPE_CHECKING:
    from .server import ScriptedServer

encode = msgspec.json.encode


class RequestCycle:
    def __init__(
        self, server: ScriptedServer, message: Json, channel: Channel, request: InboundRequest | None = None
    ) -> None:
        self.server = server
        self.message = message
        self.channel = channel
        self.http_request = request
        """The HTTP request that carried the message."""

    @property
    def revision(self) -> Revision:
        return self.server.revision

    @property
    def id(self) -> Any:
        return self.message.get("id")

    @property
    def method(self) -> str:
        method = self.message.get("method")
        return method if isinstance(method, str) else ""

    @property
    def params(self) -> Json:
        params = self.message.get("params")
        return params if isinstance(params, dict) else {}

    @property
    def arguments(self) -> Json:
        """The arguments of a tool call."""
        arguments = self.params.get("arguments")
        return arguments if isinstance(arguments, dict) else {}

    @property
    def meta(self) -> Json:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    @property
    def declared(self) -> Json:
        """The client's capabilities, from this request or from its handshake."""
        if self.revision.opening is Opening.HANDSHAKE:
            return self.server.declared
        capabilities = self.meta.get(CAPABILITIES_KEY)
        return capabilities if isinstance(capabilities, dict) else {}

    async def send(self, message: Json | bytes) -> None:
        """Send a message before the answer."""
        await self.channel.send(message if isinstance(message, bytes) else encode(message))

    async def notify(self, method: str, params: Json | None = None) -> None:
        await self.send({"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params}))

    async def progress(self, progress: float, total: float | None = None) -> None:
        """Send progress if the request has a progress token."""
        token = self.meta.get("progressToken")
        if token is not None:
            params = {"progressToken": token, "progress": progress} | ({"total": total} if total else {})
            await self.notify("notifications/progress", params)

    async def ask(self, method: str, params: Json) -> Json:
        """Send a request to the client and wait for the whole answer; only in revisions that allow it."""
        return await self.server.ask(self.channel.send, method, params)

    async def inquire(self, questions: Mapping[str, tuple[str, Json]], state: str | None = None) -> Json:
        """Ask the client in the way of the revision.

        By request, returns the result of each question, or its error under the key `error`; by retry, returns
        `inputResponses`.

        Raises:
            InputNeeded: the client has to retry; the scripted server answers with `input_required`.
        """
        if self.revision.asking is Asking.BY_REQUEST:
            answers = {key: await self.ask(*question) for key, question in questions.items()}
            return {key: answer.get("result", answer) for key, answer in answers.items()}
        responses = self.params.get("inputResponses")
        if isinstance(responses, dict) and questions.keys() <= responses.keys():
            return responses
        raise InputNeeded(input_required(questions, state))

    async def wait_for_disconnect(self) -> None:
        """Wait until the client disconnects."""
        await self.channel.disconnected.wait()


def input_required(questions: Mapping[str, tuple[str, Json]], state: str | None = None) -> Json:
    requests = {key: {"method": method, "params": params} for key, (method, params) in questions.items()}
    return {"resultType": "input_required", "inputRequests": requests} | (
        {} if state is None else {"requestState": state}
    )
