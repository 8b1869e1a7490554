"""The host: the server that a client under test meets. Healthy, and lenient with what it is sent: judging is
for the checks. A scenario changes what it needs changed.

    stage.host.add_tool({"name": "add", "inputSchema": {...}}, add)

    @stage.host.on("resources/read")
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

from .answer import DONE, SILENCE, Answer, Asking, Json, Raw, Refused
from .channel import Channel
from .http_reply import HttpReply
from .http_server import Asked
from .request_cycle import RequestCycle, encode

Handler = Callable[[RequestCycle], Awaitable[Answer]]
Hook = Callable[[Asked, HttpReply], Awaitable[bool]]
Tool = Callable[[RequestCycle], Awaitable[Answer]]
SERVER: Final = {"name": "assay-lab-host", "version": "1"}
PATIENCE: Final = 20.0
"""Seconds that the host waits for the client to listen."""
ANSWERS: Final = 5.0
"""Seconds that the host waits for an answer of the client."""
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
        """Items on one page of a list; none for all on one."""
        self.hints: Json = {"ttlMs": 0, "cacheScope": "private"}
        """For caches, in the revisions that have such."""
        self.streams = revision.opening is Opening.HANDSHAKE
        """Whether answers on HTTP come as event streams."""
        self.sessions = False
        self.standalone = False
        """Whether a GET is given an event stream."""
        self.exit_on_end = True
        """On stdio: whether the host ends when its input does; otherwise it waits to be told by a signal."""
        self.exit_on_signal = True
        self.hooks: list[Hook] = []
        """Each sees every HTTP request to the endpoint's address first, and says whether it has answered."""
        self.handlers: dict[str, Handler] = dict(_HANDLERS)
        self.tools: dict[str, Tool] = {}
        self.declared: Json = {}
        """The client's capabilities, from its handshake."""
        self.session: str | None = None
        """The one that is good now."""
        self.memory: dict[str, Any] = {}
        """For the scenario's own use."""
        self.listeners: list[RequestCycle] = []
        self.fault: Exception | None = None
        """The first error in a handler: a fault of the lab, never of the client."""
        self._ears: list[Channel] = []
        self._heard = asyncio.Event()
        self._numbers = count(1)
        self._waiting: dict[str, asyncio.Future[Json]] = {}

    # -- what a scenario says ----------------------------------------------------------------------------

    def on(self, method: str) -> Callable[[Handler], Handler]:
        """Answer requests, or hear notifications, of this method."""

        def taken(handler: Handler) -> Handler:
            self.handlers[method] = handler
            return handler

        return taken

    def on_http(self, hook: Hook) -> Hook:
        self.hooks.append(hook)
        return hook

    def add_tool(self, definition: Json, run: Tool | None = None) -> None:
        self.capabilities.setdefault("tools", {})
        self.items["tools"].append({"inputSchema": {"type": "object"}, **definition})
        self.tools[definition["name"]] = run or _well

    def add_resource(self, uri: str, text: str = "text", **more: Any) -> None:
        self.capabilities.setdefault("resources", {})
        self.items["resources"].append({"uri": uri, "name": uri, "mimeType": "text/plain", **more})
        self.memory.setdefault("texts", {})[uri] = text

    def add_prompt(self, name: str, **more: Any) -> None:
        self.capabilities.setdefault("prompts", {})
        self.items["prompts"].append({"name": name, **more})

    def mark(self, label: str, **info: Any) -> None:
        """Tell the trace what the scenario means by what follows."""
        self.recorder.mark("host/marks", label, **info)

    # -- speaking first ----------------------------------------------------------------------------------

    async def ask(self, send: Callable[[bytes], Awaitable[None]], method: str, params: Json) -> Json:
        """Send a request and wait for the whole answer; an empty one where none comes."""
        number = f"host-{next(self._numbers)}"
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        await send(encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        await asyncio.wait({answer}, timeout=ANSWERS)
        return answer.result() if answer.done() else {}

    async def ear(self) -> Channel:
        """Where the client listens for what belongs to no request: the connection, or its GET stream."""
        async with asyncio.timeout(PATIENCE):
            while not self._ears:
                self._heard.clear()
                await self._heard.wait()
        return self._ears[-1]

    def listen(self, channel: Channel) -> None:
        self._ears.append(channel)
        self._heard.set()

    def deafen(self, channel: Channel) -> None:
        if channel in self._ears:
            self._ears.remove(channel)

    async def announce(self, method: str, params: Json | None = None) -> None:
        """A notification for whoever listens, where the revision wants it sent; nobody has to."""
        params = params or {}
        if self.revision.opening is Opening.HANDSHAKE:
            with suppress(TimeoutError):
                await (await self.ear()).send(encode({"jsonrpc": "2.0", "method": method, "params": params}))
            return
        for cycle in list(self.listeners):  # some may leave meanwhile
            meta = {SUBSCRIPTION_KEY: cycle.id, **params.get("_meta", {})}
            await cycle.notify(method, {**params, "_meta": meta})

    # -- answering ---------------------------------------------------------------------------------------

    async def receive(self, cycle: RequestCycle) -> None:
        """Whatever the client sent, once it is JSON."""
        try:
            await self._take(cycle)
        except (ConnectionError, Flooded):
            raise
        except Exception as fault:  # ours, wherever it is: the visit ends with it
            self.fault = self.fault or fault
            cycle.channel.cut()

    async def _take(self, cycle: RequestCycle) -> None:
        message = cycle.message
        if "method" not in message:
            waiting = self._waiting.pop(str(message.get("id")), None)
            if waiting is not None and not waiting.done():
                waiting.set_result(message)
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
                raise Refused(METHOD_NOT_FOUND, f"no such method: {cycle.method}")
            answer = await handler(cycle)
            if answer is DONE:
                return
            if answer is SILENCE:
                return await cycle.stay()
            if isinstance(answer, Raw):
                return await cycle.channel.reply(answer.body, answer.status)
            body = {"result": self.shaped(cycle.method, answer)}
        except Asking as asking:
            body = {"result": self.shaped(cycle.method, asking.result)}
        except Refused as refused:
            body = {"error": refused.error}
            status = refused.status or self.revision.http.statuses.get(refused.error["code"])
        await cycle.channel.reply(encode({"jsonrpc": "2.0", "id": cycle.id, **body}), status)

    def shaped(self, method: str, result: Any) -> Any:
        """A result as the revision wants it, unless it says so itself."""
        if self.revision.results is Results.PLAIN or not isinstance(result, dict):
            return result
        done = result.get("resultType", "complete") == "complete"
        hints = self.hints if done and method in self.revision.cacheable else {}
        shaped = {"resultType": "complete", **hints, **result}
        shaped["_meta"] = {SERVER_KEY: SERVER, **result.get("_meta", {})}
        return shaped


async def _well(cycle: RequestCycle) -> Answer:
    return {"content": [{"type": "text", "text": "well done"}]}


async def _initialize(cycle: RequestCycle) -> Answer:
    host = cycle.host
    if host.revision.opening is Opening.PER_REQUEST:
        raise Refused(METHOD_NOT_FOUND, "no such method: initialize")
    declared = cycle.params.get("capabilities")
    host.declared = declared if isinstance(declared, dict) else {}
    return {"protocolVersion": host.revision.date, "serverInfo": SERVER, **_about(host)}


async def _discover(cycle: RequestCycle) -> Answer:
    host = cycle.host
    if host.revision.opening is Opening.HANDSHAKE:
        raise Refused(METHOD_NOT_FOUND, "no such method: server/discover")
    return {"supportedVersions": [host.revision.date], **_about(host)}


def _about(host: ScriptedServer) -> Json:
    told = {} if host.instructions is None else {"instructions": host.instructions}
    return {"capabilities": host.capabilities, **told}


async def _list(cycle: RequestCycle) -> Answer:
    key = LISTED[cycle.method]
    items, page = cycle.host.items[key], cycle.host.page
    if page is None:
        return {key: items}
    pages = {f"at:{begin}": begin for begin in range(0, max(1, len(items)), page)}
    begin = pages.get(str(cycle.params.get("cursor", "at:0")))
    if begin is None:
        raise Refused(INVALID_PARAMS, "no such cursor")
    more = {"nextCursor": f"at:{begin + page}"} if begin + page < len(items) else {}
    return {key: items[begin : begin + page], **more}


async def _call(cycle: RequestCycle) -> Answer:
    run = cycle.host.tools.get(str(cycle.params.get("name")))
    if run is None:
        raise Refused(INVALID_PARAMS, f"no such tool: {cycle.params.get('name')}")
    return await run(cycle)


async def _read(cycle: RequestCycle) -> Answer:
    uri = str(cycle.params.get("uri"))
    texts = cycle.host.memory.get("texts", {})
    if uri not in texts:
        raise Refused(cycle.revision.resource_not_found, f"no such resource: {uri}", {"uri": uri})
    return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": texts[uri]}]}


async def _prompt(cycle: RequestCycle) -> Answer:
    return {"messages": [{"role": "user", "content": {"type": "text", "text": "a prompt"}}]}


async def _complete(cycle: RequestCycle) -> Answer:
    return {"completion": {"values": ["one", "two"], "total": 2, "hasMore": False}}


async def _nothing(cycle: RequestCycle) -> Answer:
    return {}


async def _subscribe(cycle: RequestCycle) -> Answer:
    """Acknowledge a `subscriptions/listen`, and keep its stream until the client leaves or cancels it."""
    host = cycle.host
    meta = {SUBSCRIPTION_KEY: cycle.id}
    wanted = cycle.params.get("notifications")
    await cycle.notify(
        "notifications/subscriptions/acknowledged", {"notifications": wanted or {}, "_meta": meta}
    )
    host.listeners.append(cycle)
    try:
        await cycle.stay()
    finally:
        if cycle in host.listeners:
            host.listeners.remove(cycle)
    return DONE


async def _cancelled(cycle: RequestCycle) -> Answer:
    """Nothing more is said on a subscription that is not wanted any more."""
    given_up = (cycle.channel.connection, cycle.params.get("requestId"))
    listeners = cycle.host.listeners
    listeners[:] = [one for one in listeners if (one.channel.connection, one.id) != given_up]
    return DONE


_HANDLERS: Final[dict[str, Handler]] = {
    "initialize": _initialize,
    "server/discover": _discover,
    "ping": _nothing,
    **dict.fromkeys(LISTED, _list),
    "tools/call": _call,
    "resources/read": _read,
    "prompts/get": _prompt,
    "completion/complete": _complete,
    "logging/setLevel": _nothing,
    "resources/subscribe": _nothing,
    "resources/unsubscribe": _nothing,
    "subscriptions/listen": _subscribe,
    "notifications/cancelled": _cancelled,
}
