"""A saboteur as a subject, so that scenarios meet it like any other server."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assay.lab.harness.links.identity import ANYBODY, Identity
from assay.lab.harness.links.link import Inbox, Link
from assay.lab.harness.links.stdio import StdioLink, Wire
from assay.lab.harness.subject.subject import UrlSubject
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.transport import Transport
from assay.revisions.revision import Revision

from .alteration import Alteration
from .front import Front
from .proxy import Proxy
from .saboteur import FaultContext, Saboteur
from .socket_front import SocketFront
from .socket_wire import SocketWire
from .two_endpoints import TwoEndpoints
from .wire import LayeredWire, ScriptedWire

if TYPE_CHECKING:
    from .certificate_server import TestCA

HEALTHY = Saboteur(id="none", fault="none", breaks="nothing")


class StdioSaboteur:
    """Each connection is a conversation of its own with a healthy server, or the fault's script alone."""

    transport = Transport.STDIO

    def __init__(self, saboteur: Saboteur, healthy: str, revision: Revision) -> None:
        """`healthy` is the URL of a server on a WebSocket: see `socket_wire.py`."""
        self.name = f"saboteur {saboteur.id}"
        self._saboteur = saboteur
        self._healthy = healthy
        self._revision = revision

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def spawn(self, on_error: Callable[[bytes], None]) -> Wire:
        if self._saboteur.script is not None:
            return ScriptedWire(self._saboteur.script, self._revision)
        inner = await SocketWire.open(self._healthy)
        return LayeredWire(inner, Alteration(self._saboteur, FaultContext(self.transport, self._revision)))

    def link(
        self, inbox: Inbox, recorder: Recorder, revision: Revision, *, name: str, patience: float
    ) -> Link:
        return StdioLink(self.spawn, inbox, recorder, name=name)

    def last_words(self) -> tuple[str, ...]:
        return ()


class _FrontSaboteur(UrlSubject):
    """A front with the fault in it, before a healthy server that is running already."""

    def __init__(
        self, front: Front | SocketFront, transport: Transport, identity: Identity = ANYBODY
    ) -> None:
        super().__init__("", transport=transport, identity=identity)
        self._front = front

    async def start(self) -> None:
        self.name = await self._front.start()

    async def stop(self) -> None:
        await self._front.stop()


class HttpSaboteur(_FrontSaboteur):
    def __init__(
        self, saboteur: Saboteur, healthy: str, revision: Revision, office: TestCA | None = None
    ) -> None:
        """With an office, the server wants certificates."""
        context = FaultContext(Transport.HTTP, revision)
        identity = ANYBODY if office is None else office.identity
        super().__init__(Proxy(saboteur, context, healthy, office), Transport.HTTP, identity)


class HttpSseSaboteur(_FrontSaboteur):
    def __init__(self, saboteur: Saboteur, healthy: str, revision: Revision) -> None:
        """`healthy` is the URL of a server on a WebSocket."""
        context = FaultContext(Transport.HTTP_SSE, revision)
        super().__init__(TwoEndpoints(saboteur, context, healthy), Transport.HTTP_SSE)


class WebSocketSaboteur(_FrontSaboteur):
    def __init__(self, saboteur: Saboteur, healthy: str, revision: Revision) -> None:
        context = FaultContext(Transport.WEBSOCKET, revision)
        super().__init__(SocketFront(saboteur, context, healthy), Transport.WEBSOCKET)
