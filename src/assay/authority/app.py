"""The authority as an ASGI application."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from . import endpoints
from .authority import Authority
from .consent import refusal_page
from .endpoints import Endpoint
from .http import Request, Response, refusal_response
from .metadata import places
from .refusal import NotRedirected, Refused

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
log = logging.getLogger("assay.authority")

ENDPOINTS: Final[dict[tuple[str, str], Endpoint]] = {
    ("GET", "/"): endpoints.welcome,
    ("GET", "/authorize"): endpoints.authorize,
    ("POST", "/consent"): endpoints.consent,
    ("GET", "/jwks"): endpoints.publish_keys,
    ("POST", "/token"): endpoints.token,
    ("POST", "/register"): endpoints.register,
    ("POST", "/introspect"): endpoints.look_into,
    ("POST", "/revoke"): endpoints.take_back,
    ("POST", "/dev/mint"): endpoints.mint,
    ("POST", "/dev/rotate"): endpoints.rotate,
}
# What scripts of any page may read: nothing there depends on who the browser is.
CROSS_ORIGIN: Final = ("/jwks", "/token", "/register", "/revoke")
CORS: Final = (
    ("access-control-allow-origin", "*"),
    ("access-control-expose-headers", "dpop-nonce, www-authenticate"),
)
PREFLIGHT: Final = (
    *CORS,
    ("access-control-allow-methods", "GET, POST"),
    ("access-control-allow-headers", "authorization, content-type, dpop, mcp-protocol-version"),
    ("access-control-max-age", "600"),
)


class AuthorityApp:
    """Answers each request from the table of endpoints."""

    def __init__(self, authority: Authority) -> None:
        self.authority = authority
        settings = authority.settings
        base = f"{settings.path}{settings.endpoints}"
        documents = places(settings.path, authority.faults)
        self._table = {(method, f"{base}{place}"): served for (method, place), served in ENDPOINTS.items()}
        self._table |= {("GET", place): endpoints.describe for place in documents}
        self._open = documents | {f"{base}{place}" for place in CROSS_ORIGIN}
        self.places = frozenset(place for _, place in self._table)
        """Every path that is answered here: a host that has others can tell them apart."""

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await _live(receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close"})
        response = await self._answer(scope, receive)
        # Never the query, a body or a header: they hold secrets. Nor a path that a stranger made up.
        path = scope["path"] if scope["path"] in self.places else "(elsewhere)"
        log.info("%s %s %d", scope["method"], path, response.status)
        await _send(response, send)

    async def close(self) -> None:
        """Nothing is open between requests."""

    async def _answer(self, scope: MutableMapping[str, Any], receive: Receive) -> Response:
        settings = self.authority.settings
        if "slow" in self.authority.faults:
            await asyncio.sleep(settings.slowness)
        method, path = scope["method"], scope["path"]
        if method == "OPTIONS" and path in self._open:
            return Response(status=204, headers=PREFLIGHT)
        try:
            async with asyncio.timeout(settings.bounds.body_seconds):
                body = await _body(receive, settings.bounds.body_bytes)
            response = await self._endpoint(method, path)(self.authority, _request(scope, body))
        except TimeoutError:
            response = refusal_response(Refused("invalid_request", "the body took too long", status=408))
        except NotRedirected as refused:
            response = refusal_page(refused)
        except Refused as refused:
            response = refusal_response(refused)
        return _opened(response) if path in self._open else response

    def _endpoint(self, method: str, path: str) -> Endpoint:
        found = self._table.get(("GET" if method == "HEAD" else method, path))
        if found is None:
            allowed = [known for known, place in self._table if place == path]
            status = 405 if allowed else 404
            headers = {"allow": ", ".join(allowed)} if allowed else {}
            raise Refused("not_found", f"no {method} at this address", status=status, headers=headers)
        return found


def _opened(response: Response) -> Response:
    return Response(status=response.status, headers=(*response.headers, *CORS), body=response.body)


def _request(scope: MutableMapping[str, Any], body: bytes) -> Request:
    headers = ((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"])
    client = scope.get("client")
    return Request(
        method=scope["method"],
        path=scope["path"],
        query=scope.get("query_string", b"").decode("latin-1"),
        headers=tuple(headers),
        body=body,
        peer=None if client is None else client[0],
    )


async def _body(receive: Receive, bound: int) -> bytes:
    body: bytes = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused("invalid_request", "the client has left")
        body += message.get("body", b"")
        if len(body) > bound:
            raise Refused("invalid_request", f"the body has more than {bound} bytes", status=413)
        if not message.get("more_body", False):
            return body


async def _send(response: Response, send: Send) -> None:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in response.headers]
    if response.status != 204:
        headers.append((b"content-length", b"%d" % len(response.body)))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})


async def _live(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
