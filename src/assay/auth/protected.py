"""The ASGI middleware that lets only authorized requests through to the application."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Iterable
from copy import copy
from typing import Any, Final

import msgspec

from assay.model.visible import visible_record
from assay.protocol.http.asgi import Application, AsgiScope, JoinsHost, Receive, Transmit, path_here
from assay.protocol.http.head_policy import HeadPolicy, Refusal, cors
from assay.protocol.http.policy import HttpPolicy
from assay.protocol.scope import Scope

from .certificate import client_certificate
from .challenge import challenge
from .credentials import BEARER, DPOP, Headers, SplitHeaders, read_credentials, split_headers
from .error import NEED_NONCE, AuthorizationError, Unavailable
from .grant import Grant
from .guard import Guard, RequestInfo
from .metadata import ALLOW, HEADERS, PREFLIGHT, address_of_metadata, paths_of_metadata
from .response import POLICY, refuse, respond

log: Final = logging.getLogger("assay.auth")
log.addFilter(visible_record)

WELL_KNOWN: Final = "/.well-known/"
OF_THE_SERVER: Final = "/.well-known/mcp-"
"""Documents that the application itself serves there, such as manifests; these require a token."""
EXPIRED: Final = {
    "type": "websocket.close",
    "code": POLICY,
    "reason": "token expired: connect with a new one",
}
LONG: Final = 3600.0
"""Seconds between looks at the clock, which may be set meanwhile."""


class Protected(JoinsHost):
    """Wraps an application. Authorized requests reach it without tokens, and with a `Scope` under `"assay"`
    that holds the principal and its scopes."""

    def __init__(self, app: Application, guard: Guard) -> None:
        self._app = app
        self._guard = guard
        self._auth = guard.auth
        self._head_policy = HeadPolicy(app.policy)
        self._metadata_at = address_of_metadata(self._auth.address)
        self._paths = paths_of_metadata(self._auth.address, app.policy.path)
        self._metadata = msgspec.json.encode(self._auth.metadata())

    @property
    def policy(self) -> HttpPolicy:
        return self._app.policy

    def start(self) -> Awaitable[None]:
        return self._app.start()

    async def close(self) -> None:
        await self._app.close()

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        path = path_here(scope)
        if path.startswith(WELL_KNOWN) and not path.startswith(OF_THE_SERVER):
            return await self._serve_metadata(path, scope, receive, send)
        if is_preflight(scope):
            return await self._app(scope, receive, send)
        headers = split_headers(scope["headers"])
        grant = await self._authorize(scope, headers)
        if isinstance(grant, Refusal):
            if path.rstrip("/") in self.policy.open_paths and scope["type"] == "http":
                return await self._app(scope, receive, send)
            return await refuse(scope, receive, send, grant)
        admitted = {**scope, **self._admission(grant, scope), "headers": headers.rest}
        if scope["type"] == "http":
            return await self._app(admitted, receive, send)
        return await self._serve_socket(grant, admitted, receive, send)

    async def _authorize(self, scope: AsgiScope, headers: SplitHeaders) -> Grant | Refusal:
        scheme = BEARER
        try:
            credentials = read_credentials(headers.authorization, scope.get("query_string", b""))
            scheme = credentials.scheme
            known = self._guard.recall(credentials)
            if known is not None:
                return known  # the application checks Host and Origin of every request
            problem = self._problem_of_source(headers.rest)
            return problem or await self._guard.admit(credentials, self._request_info(scope, headers))
        except AuthorizationError as error:
            log.debug("refused: %s", error.reason)
            return self._problem_of_source(headers.rest) or self._refusal(error, scheme, headers.rest)
        except Unavailable as error:
            log.warning("tokens cannot be verified: %s", error)
            later = ((b"retry-after", b"10"), *cors(dict(headers.rest).get(b"origin")))
            return Refusal(503, "tokens cannot be verified now: try again later", later)

    def _problem_of_source(self, headers: Headers) -> Refusal | None:
        """Requests with a disallowed Host or Origin get no answer about tokens."""
        by_name = dict(headers)
        return self._head_policy.check_source(by_name.get(b"host"), by_name.get(b"origin"))

    def _request_info(self, scope: AsgiScope, headers: SplitHeaders) -> RequestInfo:
        below = path_here(scope).removeprefix(self.policy.path or "")
        # A proof is for the URL that the client used, which may differ from the path behind a proxy.
        url = self._auth.address.rstrip("/") + below if below else self._auth.address
        return RequestInfo(scope.get("method", "GET"), url, headers.proofs, client_certificate(scope))

    def _admission(self, grant: Grant, scope: AsgiScope) -> dict[str, Any]:
        outer: Scope | None = scope.get("assay")
        state = {"claims": grant.claims} if outer is None else {**outer.state, "claims": grant.claims}
        inner = Scope() if outer is None else copy(outer)
        inner.principal, inner.scopes = grant.principal, grant.scopes
        inner.expires, inner.state = grant.expires, state
        return {"assay": inner, "assay.challenge": self._challenge}

    def _challenge(
        self,
        status: int,
        error: str | None,
        scopes: Iterable[str] = (),
        reason: str = "",
        scheme: str = BEARER,
    ) -> bytes:
        """The challenge header. The application uses it too, for scopes that only it knows."""
        needed = dict.fromkeys((*self._auth.scopes, *scopes))
        scheme = DPOP if self._auth.dpop.required else scheme
        return challenge(self._metadata_at, scopes=needed, error=error, reason=reason, scheme=scheme)

    def _refusal(self, error: AuthorizationError, scheme: str, headers: Headers) -> Refusal:
        header = self._challenge(error.status, error.error, (), error.reason, scheme)
        pairs = [(b"www-authenticate", header), *cors(dict(headers).get(b"origin"))]
        nonces = self._guard.proofs.nonces
        if error.error == NEED_NONCE and nonces is not None:
            pairs += [(b"dpop-nonce", nonces.current().encode()), (b"cache-control", b"no-store")]
        return Refusal(error.status, error.reason, tuple(pairs))

    async def _serve_socket(
        self, grant: Grant, admitted: AsgiScope, receive: Receive, send: Transmit
    ) -> None:
        ending = asyncio.get_running_loop().create_task(self._end(grant.expires, send))
        try:
            await self._app(admitted, receive, send)
        finally:
            ending.cancel()

    async def _end(self, expires: float, send: Transmit) -> None:
        """Close the connection when the token that opened it expires."""
        while (left := expires - self._auth.clock()) > 0:
            await asyncio.sleep(min(left, LONG))
        try:
            await send(EXPIRED)
        except (OSError, RuntimeError):
            pass  # already closed

    async def _serve_metadata(self, path: str, scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        """Serve the metadata, which is public and readable from any origin."""
        problem = self._head_policy.check_source(dict(scope["headers"]).get(b"host"), None)
        if problem is None and (scope["type"] != "http" or path.rstrip("/") not in self._paths):
            problem = Refusal(404, "not found")
        if problem is not None:
            return await refuse(scope, receive, send, problem)
        if scope["method"] == "OPTIONS":
            return await respond(scope, receive, send, (204, (*PREFLIGHT, ALLOW), b""))
        if scope["method"] not in ("GET", "HEAD"):
            wrong = Refusal(405, "the metadata is read-only", (ALLOW,))
            return await refuse(scope, receive, send, wrong)
        return await respond(scope, receive, send, (200, HEADERS, self._metadata))


def is_preflight(scope: AsgiScope) -> bool:
    """Whether this is a CORS preflight, which carries no token."""
    if scope["type"] != "http" or scope["method"] != "OPTIONS":
        return False
    names = {name for name, _ in scope["headers"]}
    return {b"origin", b"access-control-request-method"} <= names
