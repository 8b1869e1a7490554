"""Saboteurs as subjects, one class for each transport."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from assay.lab.harness.links.identity import DEFAULT_IDENTITY, Identity
from assay.lab.harness.links.link import Inbox, Link
from assay.lab.harness.links.stdio import StdioLink, Wire
from assay.lab.harness.subject.subject import UrlSubject
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.transport import Transport
from assay.revisions.revision import Revision

from .alteration import Alteration
from .http_proxy import HttpProxy
from .http_sse_proxy import HttpSseProxy
from .local_server import LocalServer
from .saboteur import FaultContext, Saboteur
from .websocket_proxy import WebSocketProxy
from .websocket_wire import WebSocketWire
from .wire import FaultyWire, ScriptedWire

if TYPE_CHECKING:
    from .certificate_authority import TestCA

HEALTHY = Saboteur(id="none", fault="none", breaks="nothing")


class StdioSaboteur:
    """Each connection goes to a healthy server through the fault, or to the script of the saboteur."""

    transport = Transport.STDIO

    def __init__(self, saboteur: Saboteur, healthy: str, revision: Revision) -> None:
        """`healthy` is a WebSocket URL: see `websocket_wire.py`."""
        self.name = f"saboteur {saboteur.id}"
        self._saboteur = saboteur
        self._healthy = healthy
        self._revision = revision

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def spawn(self, on_error: Callable[[bytes], None]) -> Wire:
        if self._saboteur.script is not None:
            return ScriptedWire(self._saboteur.script, self._revision)
        inner = await WebSocketWire.open(self._healthy)
        return FaultyWire(inner, Alteration(self._saboteur, FaultContext(self.transport, self._revision)))

    def link(
        self, inbox: Inbox, recorder: Recorder, revision: Revision, *, name: str, patience: float
    ) -> Link:
        return StdioLink(self.spawn, inbox, recorder, name=name)

    def separate(self) -> UrlSubject | None:
        return None

    def stderr_tail(self) -> tuple[str, ...]:
        return ()


class _ProxySubject(UrlSubject):
    """A proxy with the fault, in front of a healthy server that runs already."""

    def __init__(
        self, make: Callable[[], LocalServer], transport: Transport, identity: Identity = DEFAULT_IDENTITY
    ) -> None:
        super().__init__("", transport=transport, identity=identity)
        self._make = make
        self._proxy = make()

    async def start(self) -> None:
        self.name = await self._proxy.start()

    async def stop(self) -> None:
        await self._proxy.stop()

    def separate(self) -> UrlSubject:
        return _ProxySubject(self._make, self.transport, self._identity)

    async def terminate(self, patience: float) -> int | None:
        try:
            async with asyncio.timeout(patience):
                await self._proxy.terminate()
        except TimeoutError:
            return None
        return 0


class HttpSaboteur(_ProxySubject):
    def __init__(
        self, saboteur: Saboteur, healthy: str, revision: Revision, test_ca: TestCA | None = None
    ) -> None:
        """With a CA, the server requires client certificates."""
        shared: dict[str, Any] = {}

        def make() -> LocalServer:
            context = FaultContext(Transport.HTTP, revision, shared=shared)
            return HttpProxy(saboteur, context, healthy, test_ca)

        identity = DEFAULT_IDENTITY if test_ca is None else test_ca.identity
        super().__init__(make, Transport.HTTP, identity)


class HttpSseSaboteur(_ProxySubject):
    def __init__(self, saboteur: Saboteur, healthy: str, revision: Revision) -> None:
        """`healthy` is a WebSocket URL."""

        def make() -> LocalServer:
            return HttpSseProxy(saboteur, FaultContext(Transport.HTTP_SSE, revision), healthy)

        super().__init__(make, Transport.HTTP_SSE)


class WebSocketSaboteur(_ProxySubject):
    def __init__(self, saboteur: Saboteur, healthy: str, revision: Revision) -> None:

        def make() -> LocalServer:
            return WebSocketProxy(saboteur, FaultContext(Transport.WEBSOCKET, revision), healthy)

        super().__init__(make, Transport.WEBSOCKET)
