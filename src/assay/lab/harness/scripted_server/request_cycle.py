"""One message of the client, and what the host may do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.revisions.revision import Asking as How
from assay.revisions.revision import Opening, Revision

from .answer import Asking, Json
from .channel import Channel
from .http_server import Asked

if TYPE_CHECKING:
    from .server import ScriptedServer

encode = msgspec.json.encode


class RequestCycle:
    def __init__(
        self, host: ScriptedServer, message: Json, channel: Channel, asked: Asked | None = None
    ) -> None:
        self.host = host
        self.message = message
        self.channel = channel
        self.asked = asked
        """The HTTP request that carries the message."""

    @property
    def revision(self) -> Revision:
        return self.host.revision

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
        """Of a call of a tool."""
        given = self.params.get("arguments")
        return given if isinstance(given, dict) else {}

    @property
    def meta(self) -> Json:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    @property
    def declared(self) -> Json:
        """What the client says that it can do: in this request, or in its handshake."""
        if self.revision.opening is Opening.HANDSHAKE:
            return self.host.declared
        found = self.meta.get(CAPABILITIES_KEY)
        return found if isinstance(found, dict) else {}

    async def send(self, message: Json | bytes) -> None:
        """A message of any kind before the answer."""
        await self.channel.send(message if isinstance(message, bytes) else encode(message))

    async def notify(self, method: str, params: Json | None = None) -> None:
        await self.send({"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params}))

    async def progress(self, progress: float, total: float | None = None) -> None:
        """If the client asked to be told."""
        token = self.meta.get("progressToken")
        if token is not None:
            about = {"progressToken": token, "progress": progress} | ({"total": total} if total else {})
            await self.notify("notifications/progress", about)

    async def ask(self, method: str, params: Json) -> Json:
        """Send a request of the host, in the revisions that have such, and wait for the whole answer."""
        return await self.host.ask(self.channel.send, method, params)

    async def inquire(self, questions: Mapping[str, tuple[str, Json]], state: str | None = None) -> Json:
        """Get an answer to each question, by whichever way the revision has: by request (the result of each,
        or the error under the key `error`), or by retry (what is in `inputResponses`).

        Raises:
            Asking: the client has to come again; the host sees to it.
        """
        if self.revision.asking is How.BY_REQUEST:
            answers = {key: await self.ask(*question) for key, question in questions.items()}
            return {key: answer.get("result", answer) for key, answer in answers.items()}
        given = self.params.get("inputResponses")
        if isinstance(given, dict) and questions.keys() <= given.keys():
            return given
        raise Asking(input_required(questions, state))

    async def stay(self) -> None:
        """Wait until the client hangs up."""
        await self.channel.left.wait()


def input_required(questions: Mapping[str, tuple[str, Json]], state: str | None = None) -> Json:
    asked = {key: {"method": method, "params": params} for key, (method, params) in questions.items()}
    return {"resultType": "input_required", "inputRequests": asked} | (
        {} if state is None else {"requestState": state}
    )
