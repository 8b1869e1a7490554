"""The guard before an application: whoever it does not let in, the application never sees."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from assay.model.scope import Scope
from assay.protocol.http.asgi import Application, AsgiScope, Receive, Transmit
from assay.protocol.http.gate import Gate, Refusal, cors
from assay.protocol.http.policy import HttpPolicy

from .certificate import shown_certificate
from .challenge import challenge
from .credentials import BEARER, DPOP, Headers, Shown, part, read
from .denial import NEED_NONCE, Denied, Unavailable
from .grant import Grant
from .guard import Circumstances, Guard
from .metadata import ALLOW, HEADERS, PREFLIGHT, address_of_metadata, paths_of_metadata
from .response import POLICY, refuse, respond

log: Final = logging.getLogger("assay.auth")

WELL_KNOWN: Final = "/.well-known/"
OF_THE_SERVER: Final = "/.well-known/mcp-"
"""What the application itself tells there, as manifests: for those who are let in."""
EXPIRED: Final = {
    "type": "websocket.close",
    "code": POLICY,
    "reason": "token expired: connect with a new one",
}
LONG: Final = 3600.0
"""Seconds after which a sleeper looks at the clock, which may have been set meanwhile."""


class Protected:
    """An application for those whom the guard lets in. It finds them as a `Scope` under `"assay"`, what they
    were granted included, and nothing of their tokens."""

    def __init__(self, app: Application, guard: Guard) -> None:
        self._app = app
        self._guard = guard
        self._auth = guard.auth
        self._gate = Gate(app.policy)
        self._metadata_at = address_of_metadata(self._auth.address)
        self._paths = paths_of_metadata(self._auth.address, app.policy.path)
        self._metadata = msgspec.json.encode(self._auth.metadata())

    @property
    def policy(self) -> HttpPolicy:
        return self._app.policy

    def start(self) -> None:
        self._app.start()

    async def close(self) -> None:
        await self._app.close()

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        path = path_here(scope)
        if path.startswith(WELL_KNOWN) and not path.startswith(OF_THE_SERVER):
            return await self._tell(path, scope, receive, send)
        if is_preflight(scope):
            return await self._app(scope, receive, send)
        shown = part(scope["headers"])
        grant = await self._judge(scope, shown)
        if isinstance(grant, Refusal):
            return await refuse(scope, receive, send, grant)
        admitted = {**scope, **self._admission(grant, scope), "headers": shown.rest}
        if scope["type"] == "http":
            return await self._app(admitted, receive, send)
        return await self._serve_socket(grant, admitted, receive, send)

    async def _judge(self, scope: AsgiScope, shown: Shown) -> Grant | Refusal:
        scheme = BEARER
        try:
            credentials = read(shown.authorization, scope.get("query_string", b""))
            scheme = credentials.scheme
            known = self._guard.recall(credentials)
            if known is not None:
                return known  # the application looks at Host and Origin, as it does for everybody
            problem = self._problem_of_source(shown.rest)
            return problem or await self._guard.admit(credentials, self._circumstances(scope, shown))
        except Denied as denied:
            log.debug("refused: %s", denied.reason)
            return self._problem_of_source(shown.rest) or self._refusal(denied, scheme, shown.rest)
        except Unavailable as error:
            log.warning("no token can be verified: %s", error)
            later = ((b"retry-after", b"10"), *cors(dict(shown.rest).get(b"origin")))
            return Refusal(503, "tokens cannot be verified now: try again later", later)

    def _problem_of_source(self, headers: Headers) -> Refusal | None:
        """Whoever comes by a name or from an origin that is not allowed, learns nothing of tokens."""
        found = dict(headers)
        return self._gate.judge_source(found.get(b"host"), found.get(b"origin"))

    def _circumstances(self, scope: AsgiScope, shown: Shown) -> Circumstances:
        below = path_here(scope).removeprefix(self.policy.path or "")
        address = self._auth.address.rstrip("/") + below if below else self._auth.address
        return Circumstances(scope.get("method", "GET"), address, shown.proofs, shown_certificate(scope))

    def _admission(self, grant: Grant, scope: AsgiScope) -> dict[str, Any]:
        given: Scope | None = scope.get("assay")
        state = {"claims": grant.claims} if given is None else {**given.state, "claims": grant.claims}
        seen = Scope(principal=grant.principal, scopes=grant.scopes, expires=grant.expires, state=state)
        return {"assay": seen, "assay.challenge": self._challenge}

    def _challenge(
        self,
        status: int,
        error: str | None,
        scopes: Iterable[str] = (),
        reason: str = "",
        scheme: str = BEARER,
    ) -> bytes:
        """The header for an answer; the application asks for it, too, since it knows what a call takes."""
        needed = dict.fromkeys((*self._auth.scopes, *scopes))
        scheme = DPOP if self._auth.dpop.required else scheme
        return challenge(self._metadata_at, scopes=needed, error=error, reason=reason, scheme=scheme)

    def _refusal(self, denied: Denied, scheme: str, headers: Headers) -> Refusal:
        said = self._challenge(denied.status, denied.error, (), denied.reason, scheme)
        pairs = [(b"www-authenticate", said), *cors(dict(headers).get(b"origin"))]
        nonces = self._guard.proofs.nonces
        if denied.error == NEED_NONCE and nonces is not None:
            pairs += [(b"dpop-nonce", nonces.current().encode()), (b"cache-control", b"no-store")]
        return Refusal(denied.status, denied.reason, tuple(pairs))

    async def _serve_socket(
        self, grant: Grant, admitted: AsgiScope, receive: Receive, send: Transmit
    ) -> None:
        ending = asyncio.get_running_loop().create_task(self._end(grant.expires, send))
        try:
            await self._app(admitted, receive, send)
        finally:
            ending.cancel()

    async def _end(self, expires: float, send: Transmit) -> None:
        """A connection lasts no longer than the token that opened it."""
        while (left := expires - self._auth.clock()) > 0:
            await asyncio.sleep(min(left, LONG))
        try:
            await send(EXPIRED)
        except (OSError, RuntimeError):
            pass  # it has ended already

    async def _tell(self, path: str, scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        """Serve the metadata, which everybody may read from anywhere."""
        problem = self._gate.judge_source(dict(scope["headers"]).get(b"host"), None)
        if problem is None and (scope["type"] != "http" or path.rstrip("/") not in self._paths):
            problem = Refusal(404, "nothing is here")
        if problem is not None:
            return await refuse(scope, receive, send, problem)
        if scope["method"] == "OPTIONS":
            return await respond(scope, receive, send, (204, (*PREFLIGHT, ALLOW), b""))
        if scope["method"] not in ("GET", "HEAD"):
            wrong = Refusal(405, "the metadata can only be read", (ALLOW,))
            return await refuse(scope, receive, send, wrong)
        return await respond(scope, receive, send, (200, HEADERS, self._metadata))


def path_here(scope: AsgiScope) -> str:
    """Below where the application is mounted."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def is_preflight(scope: AsgiScope) -> bool:
    """Whether a browser asks for leave to ask: it shows no token then."""
    if scope["type"] != "http" or scope["method"] != "OPTIONS":
        return False
    names = {name for name, _ in scope["headers"]}
    return {b"origin", b"access-control-request-method"} <= names
