"""The manifests on HTTP, before the endpoint: `GET /.well-known/mcp-tools` and its two sisters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from assay.protocol.http.asgi import Application, AsgiScope, Receive, Transmit
from assay.protocol.http.head_policy import JSON, HeadPolicy, Refusal
from assay.protocol.http.policy import HttpPolicy
from assay.protocol.scope import Scope

from .manifests import Manifests, etag

Pairs = tuple[tuple[bytes, bytes], ...]

PREFIX: Final = "/.well-known/mcp-"
PATHS: Final = {f"{PREFIX}{kind}": kind for kind in ("tools", "resources", "prompts")}
ANYBODY: Final = (b"access-control-allow-origin", b"*")
ALLOW: Final = (b"allow", b"GET, HEAD, OPTIONS")
PREFLIGHT: Final = (
    ANYBODY,
    ALLOW,
    (b"access-control-allow-methods", b"GET, HEAD, OPTIONS"),
    (b"access-control-allow-headers", b"authorization, dpop, if-none-match, mcp-protocol-version"),
    (b"access-control-max-age", b"3600"),
)
# Lists change while a server runs: whoever keeps a manifest asks each time whether it still holds.
OPEN: Final = ((b"cache-control", b"no-cache"),)
OWN: Final = ((b"cache-control", b"private, no-cache"), (b"vary", b"authorization"))


class Published:
    """An application that tells its manifests, too."""

    def __init__(self, app: Application, manifests: Manifests) -> None:
        self._app = app
        self._manifests = manifests
        self._head_policy = HeadPolicy(app.policy)

    @property
    def policy(self) -> HttpPolicy:
        return self._app.policy

    def start(self) -> None:
        self._app.start()

    async def close(self) -> None:
        await self._app.close()

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        if scope["type"] != "http" or PREFIX not in scope["path"]:
            return await self._app(scope, receive, send)
        kind = PATHS.get(scope["path"].removeprefix(scope.get("root_path", "")).rstrip("/"))
        if kind is None:
            return await self._app(scope, receive, send)
        status, headers, body = await self._answer(kind, scope)
        length = () if status in (204, 304) else ((b"content-length", b"%d" % len(body)),)
        await send({"type": "http.response.start", "status": status, "headers": [*headers, *length]})
        shown = b"" if scope["method"] == "HEAD" else body
        return await send({"type": "http.response.body", "body": shown})

    async def _answer(self, kind: str, scope: AsgiScope) -> tuple[int, Pairs, bytes]:
        headers = dict(scope["headers"])
        problem = self._head_policy.check_source(headers.get(b"host"), headers.get(b"origin"))
        if problem is None and scope["method"] == "OPTIONS":
            return 204, PREFLIGHT, b""
        problem = problem or self._problem(kind, scope)
        if problem is not None:
            return problem.status, (JSON, ANYBODY, *problem.headers), problem.body()
        given: Scope | None = scope.get("assay")
        body = await self._manifests.write(kind, None if given is None else given.scopes)
        tag = etag(body)
        told = ((b"etag", tag), ANYBODY, *(OPEN if given is None else OWN))
        if matches(headers.get(b"if-none-match", b""), tag):
            return 304, told, b""
        return 200, (JSON, *told), body

    def _problem(self, kind: str, scope: AsgiScope) -> Refusal | None:
        if scope["method"] not in ("GET", "HEAD"):
            return Refusal(405, "a manifest can only be read", (ALLOW,))
        given: Scope | None = scope.get("assay")
        needed = self._manifests.needs(kind)
        if given is None or given.scopes is None or given.scopes.issuperset(needed):
            return None
        return Refusal(403, f"insufficient scope: needs {' '.join(needed)}", challenged(scope, needed))


def challenged(scope: AsgiScope, needed: Iterable[str]) -> Pairs:
    """The header that tells a client which scopes to get, where a guard stands before this."""
    challenge = scope.get("assay.challenge")
    if challenge is None:
        return ()
    return ((b"www-authenticate", challenge(403, "insufficient_scope", needed)),)


def matches(condition: bytes, tag: bytes) -> bool:
    """Whether `If-None-Match` names this document (RFC 9110, 13.1.2: compared weakly)."""
    named = [part.strip().removeprefix(b"W/") for part in condition.split(b",")]
    return tag in named or b"*" in named
