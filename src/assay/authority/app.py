"""The authority as an ASGI application."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from assay.model.visible import visible_record

from . import endpoints
from .authority import Authority
from .consent import error_page
from .endpoints import Endpoint
from .error import DisplayedError, OAuthError
from .http import Request, Response, error_response
from .metadata import places

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
log = logging.getLogger("assay.authority")
log.addFilter(visible_record)

ENDPOINTS: Final[dict[tuple[str, str], Endpoint]] = {
    ("GET", "/"): endpoints.welcome,
    ("GET", "/authorize"): endpoints.authorize,
    ("POST", "/consent"): endpoints.consent,
    ("GET", "/jwks"): endpoints.publish_keys,
    ("POST", "/token"): endpoints.token,
    ("POST", "/register"): endpoints.register,
    ("POST", "/introspect"): endpoints.introspect,
    ("POST", "/revoke"): endpoints.revoke,
    ("POST", "/dev/mint"): endpoints.mint,
    ("POST", "/dev/rotate"): endpoints.rotate,
}
# Readable by scripts of any origin: these responses do not depend on cookies.
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
        self._table = {
            (method, f"{base}{place}"): endpoint for (method, place), endpoint in ENDPOINTS.items()
        }
        self._table |= {("GET", place): endpoints.describe for place in documents}
        self._open = documents | {f"{base}{place}" for place in CROSS_ORIGIN}
        self.places = frozenset(place for _, place in self._table)
        """Every path that is answered here, for a host that serves others too."""

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await _live(receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close"})
        response = await self._answer(scope, receive)
        # Queries, bodies and headers hold secrets and are never logged; nor are unknown paths, which anyone
        # can choose.
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
            response = error_response(OAuthError("invalid_request", "the body took too long", status=408))
        except DisplayedError as error:
            response = error_page(error)
        except OAuthError as error:
            response = error_response(error)
        return _with_cors(response) if path in self._open else response

    def _endpoint(self, method: str, path: str) -> Endpoint:
        endpoint = self._table.get(("GET" if method == "HEAD" else method, path))
        if endpoint is None:
            allowed = [known for known, place in self._table if place == path]
            status = 405 if allowed else 404
            headers = {"allow": ", ".join(allowed)} if allowed else {}
            raise OAuthError("not_found", f"no {method} at this URL", status=status, headers=headers)
        return endpoint


def _with_cors(response: Response) -> Response:
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
            raise OAuthError("invalid_request", "the client disconnected")
        body += message.get("body", b"")
        if len(body) > bound:
            raise OAuthError("invalid_request", f"the body has more than {bound} bytes", status=413)
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
