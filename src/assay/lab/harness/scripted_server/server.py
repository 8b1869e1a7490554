"""The scripted server, which clients under test connect to.

It conforms by default and tolerates invalid requests: checks judge them later. A scenario adapts it:

    stage.server.add_tool({"name": "add", "inputSchema": {...}}, add)

    @stage.server.on("resources/read")
    async def read(cycle: RequestCycle) -> Json: ...
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from typing import Any, Final

from assay.lab.harness.driver.message_meta import SERVER_KEY, SUBSCRIPTION_KEY
from assay.lab.harness.trace.recorder import Flooded, Recorder
from assay.lab.harness.transport import Transport
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND
from assay.revisions.revision import Opening, Results, Revision

from .answer import DONE, SILENCE, Answer, AnswerError, InputNeeded, Json, Raw
from .channel import Channel
from .http_reply import HttpReply
from .http_server import InboundRequest
from .request_cycle import RequestCycle, encode

Handler = Callable[[RequestCycle], Awaitable[Answer]]
Hook = Callable[[InboundRequest, HttpReply], Awaitable[bool]]
Tool = Callable[[RequestCycle], Awaitable[Answer]]
SERVER: Final = {"name": "assay-lab-host", "version": "1"}
PATIENCE: Final = 20.0
"""Seconds to wait for the client to listen."""
ANSWERS: Final = 5.0
"""Seconds to wait for an answer of the client."""
LISTED: Final = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


class ScriptedServer:
    def __init__(self, revision: Revision, transport: Transport, recorder: Recorder) -> None:
        self.revision = revision
        self.transport = transport
        self.recorder = recorder
        self.capabilities: Json = {}
        self.instructions: str | None = None
        self.items: dict[str, list[Json]] = {key: [] for key in LISTED.values()}
        self.page: int | None = None
        """The page size of lists; None for a single page."""
        self.hints: Json = {"ttlMs": 0, "cacheScope": "private"}
        """Cache hints, in revisions that have them."""
        self.streams = revision.opening is Opening.HANDSHAKE
        """Whether HTTP responses are event streams."""
        self.sessions = False
        self.standalone = False
        """Whether GET opens an event stream."""
        self.exit_on_end = True
        """On stdio: whether the server exits at the end of its input; otherwise it waits for a signal."""
        self.exit_on_signal = True
        self.hooks: list[Hook] = []
        """Called for every HTTP request at the endpoint's address; a hook returns whether it has answered."""
        self.handlers: dict[str, Handler] = dict(_HANDLERS)
        self.tools: dict[str, Tool] = {}
        self.declared: Json = {}
        """The client's capabilities, from its handshake."""
        self.session: str | None = None
        """The current session."""
        self.memory: dict[str, Any] = {}
        """State of the scenario."""
        self.listeners: list[RequestCycle] = []
        self.fault: Exception | None = None
        """The first error of a handler: a bug in the lab, not a fault of the client."""
        self._channels: list[Channel] = []
        self._attached = asyncio.Event()
        self._numbers = count(1)
        self._pending: dict[str, asyncio.Future[Json]] = {}

    # -- set-up by the scenario --------------------------------------------------------------------------

    def on(self, method: str) -> Callable[[Handler], Handler]:
        """Register a handler for the requests or notifications of a method."""

        def register(handler: Handler) -> Handler:
            self.handlers[method] = handler
            return handler

        return register

    def on_http(self, hook: Hook) -> Hook:
        self.hooks.append(hook)
        return hook

    def add_tool(self, definition: Json, run: Tool | None = None) -> None:
        self.capabilities.setdefault("tools", {})
        self.items["tools"].append({"inputSchema": {"type": "object"}, **definition})
        self.tools[definition["name"]] = run or _default_tool

    def add_resource(self, uri: str, text: str = "text", **fields: Any) -> None:
        self.capabilities.setdefault("resources", {})
        self.items["resources"].append({"uri": uri, "name": uri, "mimeType": "text/plain", **fields})
        self.memory.setdefault("texts", {})[uri] = text

    def add_prompt(self, name: str, **fields: Any) -> None:
        self.capabilities.setdefault("prompts", {})
        self.items["prompts"].append({"name": name, **fields})

    def mark(self, label: str, **info: Any) -> None:
        """Add a mark to the trace, for the checks."""
        self.recorder.mark("host/marks", label, **info)

    # -- messages to the client --------------------------------------------------------------------------

    async def ask(self, send: Callable[[bytes], Awaitable[None]], method: str, params: Json) -> Json:
        """Send a request and wait for the whole answer, which is empty after a timeout."""
        number = f"host-{next(self._numbers)}"
        answer = self._pending[number] = asyncio.get_running_loop().create_future()
        await send(encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        await asyncio.wait({answer}, timeout=ANSWERS)
        return answer.result() if answer.done() else {}

    async def notification_channel(self) -> Channel:
        """The channel for messages outside of a response: the connection, or the client's GET stream."""
        async with asyncio.timeout(PATIENCE):
            while not self._channels:
                self._attached.clear()
                await self._attached.wait()
        return self._channels[-1]

    def attach(self, channel: Channel) -> None:
        self._channels.append(channel)
        self._attached.set()

    def detach(self, channel: Channel) -> None:
        if channel in self._channels:
            self._channels.remove(channel)

    async def announce(self, method: str, params: Json | None = None) -> None:
        """Send a notification on the client's channel, or on its subscriptions, depending on the revision."""
        params = params or {}
        if self.revision.opening is Opening.HANDSHAKE:
            with suppress(TimeoutError):
                await (await self.notification_channel()).send(
                    encode({"jsonrpc": "2.0", "method": method, "params": params})
                )
            return
        for cycle in list(self.listeners):  # the list may change during the loop
            meta = {SUBSCRIPTION_KEY: cycle.id, **params.get("_meta", {})}
            await cycle.notify(method, {**params, "_meta": meta})

    # -- messages of the client --------------------------------------------------------------------------

    async def receive(self, cycle: RequestCycle) -> None:
        try:
            await self._dispatch(cycle)
        except (ConnectionError, Flooded):
            raise
        except Exception as fault:  # a bug in the lab, raised at the end of the run
            self.fault = self.fault or fault
            cycle.channel.cut()

    async def _dispatch(self, cycle: RequestCycle) -> None:
        message = cycle.message
        if "method" not in message:
            pending = self._pending.pop(str(message.get("id")), None)
            if pending is not None and not pending.done():
                pending.set_result(message)
        elif "id" not in message:
            handler = self.handlers.get(cycle.method)
            if handler is not None:
                await handler(cycle)
        else:
            await self._answer(cycle)

    async def _answer(self, cycle: RequestCycle) -> None:
        status = None
        body: Json | None = None
        try:
            handler = self.handlers.get(cycle.method)
            if handler is None:
                raise AnswerError(METHOD_NOT_FOUND, f"no such method: {cycle.method}")
            answer = await handler(cycle)
            if answer is DONE:
                return
            if answer is SILENCE:
                return await cycle.wait_for_disconnect()
            if isinstance(answer, Raw):
                return await cycle.channel.reply(answer.body, answer.status)
            body = {"result": self.shaped(cycle.method, answer)}
        except InputNeeded as needed:
            body = {"result": self.shaped(cycle.method, needed.result)}
        except AnswerError as refused:
            body = {"error": refused.error}
            status = refused.status or self.revision.http.statuses.get(refused.error["code"])
        await cycle.channel.reply(encode({"jsonrpc": "2.0", "id": cycle.id, **body}), status)

    def shaped(self, method: str, result: Any) -> Any:
        """The result with the fields that the revision requires, unless it has them already."""
        if self.revision.results is Results.PLAIN or not isinstance(result, dict):
            return result
        done = result.get("resultType", "complete") == "complete"
        hints = self.hints if done and method in self.revision.cacheable else {}
        shaped = {"resultType": "complete", **hints, **result}
        shaped["_meta"] = {SERVER_KEY: SERVER, **result.get("_meta", {})}
        return shaped


async def _default_tool(cycle: RequestCycle) -> Answer:
    return {"content": [{"type": "text", "text": "well done"}]}


async def _initialize(cycle: RequestCycle) -> Answer:
    server = cycle.server
    if server.revision.opening is Opening.PER_REQUEST:
        raise AnswerError(METHOD_NOT_FOUND, "no such method: initialize")
    declared = cycle.params.get("capabilities")
    server.declared = declared if isinstance(declared, dict) else {}
    return {"protocolVersion": server.revision.date, "serverInfo": SERVER, **_description(server)}


async def _discover(cycle: RequestCycle) -> Answer:
    server = cycle.server
    if server.revision.opening is Opening.HANDSHAKE:
        raise AnswerError(METHOD_NOT_FOUND, "no such method: server/discover")
    return {"supportedVersions": [server.revision.date], **_description(server)}


def _description(server: ScriptedServer) -> Json:
    instructions = {} if server.instructions is None else {"instructions": server.instructions}
    return {"capabilities": server.capabilities, **instructions}


async def _list(cycle: RequestCycle) -> Answer:
    key = LISTED[cycle.method]
    items, page = cycle.server.items[key], cycle.server.page
    if page is None:
        return {key: items}
    pages = {f"at:{start}": start for start in range(0, max(1, len(items)), page)}
    start = pages.get(str(cycle.params.get("cursor", "at:0")))
    if start is None:
        raise AnswerError(INVALID_PARAMS, "no such cursor")
    following = {"nextCursor": f"at:{start + page}"} if start + page < len(items) else {}
    return {key: items[start : start + page], **following}


async def _call(cycle: RequestCycle) -> Answer:
    run = cycle.server.tools.get(str(cycle.params.get("name")))
    if run is None:
        raise AnswerError(INVALID_PARAMS, f"no such tool: {cycle.params.get('name')}")
    return await run(cycle)


async def _read(cycle: RequestCycle) -> Answer:
    uri = str(cycle.params.get("uri"))
    texts = cycle.server.memory.get("texts", {})
    if uri not in texts:
        raise AnswerError(cycle.revision.resource_not_found, f"no such resource: {uri}", {"uri": uri})
    return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": texts[uri]}]}


async def _prompt(cycle: RequestCycle) -> Answer:
    return {"messages": [{"role": "user", "content": {"type": "text", "text": "a prompt"}}]}


async def _complete(cycle: RequestCycle) -> Answer:
    return {"completion": {"values": ["one", "two"], "total": 2, "hasMore": False}}


async def _empty(cycle: RequestCycle) -> Answer:
    return {}


async def _subscribe(cycle: RequestCycle) -> Answer:
    """Acknowledge the subscription, and keep its stream open until the client disconnects or cancels it."""
    server = cycle.server
    acknowledged = {
        "notifications": cycle.params.get("notifications") or {},
        "_meta": {SUBSCRIPTION_KEY: cycle.id},
    }
    await cycle.notify("notifications/subscriptions/acknowledged", acknowledged)
    server.listeners.append(cycle)
    try:
        await cycle.wait_for_disconnect()
    finally:
        if cycle in server.listeners:
            server.listeners.remove(cycle)
    return DONE


async def _cancelled(cycle: RequestCycle) -> Answer:
    """Remove a cancelled subscription."""
    cancelled = (cycle.channel.connection, cycle.params.get("requestId"))
    listeners = cycle.server.listeners
    listeners[:] = [
        listener for listener in listeners if (listener.channel.connection, listener.id) != cancelled
    ]
    return DONE


_HANDLERS: Final[dict[str, Handler]] = {
    "initialize": _initialize,
    "server/discover": _discover,
    "ping": _empty,
    **dict.fromkeys(LISTED, _list),
    "tools/call": _call,
    "resources/read": _read,
    "prompts/get": _prompt,
    "completion/complete": _complete,
    "logging/setLevel": _empty,
    "resources/subscribe": _empty,
    "resources/unsubscribe": _empty,
    "subscriptions/listen": _subscribe,
    "notifications/cancelled": _cancelled,
}
