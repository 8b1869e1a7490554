"""The manifests over HTTP: `GET /.well-known/mcp-tools`, `mcp-resources` and `mcp-prompts`."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import Final

from assay.protocol.http.asgi import Application, AsgiScope, JoinsHost, Receive, Transmit
from assay.protocol.http.head_policy import JSON, HeadPolicy, Refusal
from assay.protocol.http.policy import HttpPolicy
from assay.protocol.scope import Scope

from .manifests import Manifests, etag

Pairs = tuple[tuple[bytes, bytes], ...]

PREFIX: Final = "/.well-known/mcp-"
PATHS: Final = {f"{PREFIX}{kind}": kind for kind in ("tools", "resources", "prompts")}
ANY_ORIGIN: Final = (b"access-control-allow-origin", b"*")
ALLOW: Final = (b"allow", b"GET, HEAD, OPTIONS")
PREFLIGHT: Final = (
    ANY_ORIGIN,
    ALLOW,
    (b"access-control-allow-methods", b"GET, HEAD, OPTIONS"),
    (b"access-control-allow-headers", b"authorization, dpop, if-none-match, mcp-protocol-version"),
    (b"access-control-max-age", b"3600"),
)
# Lists change while a server runs, so a cached manifest must be revalidated.
PUBLIC: Final = ((b"cache-control", b"no-cache"),)
PRIVATE: Final = ((b"cache-control", b"private, no-cache"), (b"vary", b"authorization"))


class ManifestApp(JoinsHost):
    """Wraps an application and serves its manifests."""

    def __init__(self, app: Application, manifests: Manifests) -> None:
        self._app = app
        self._manifests = manifests
        self._head_policy = HeadPolicy(app.policy)

    @property
    def policy(self) -> HttpPolicy:
        return self._app.policy

    def start(self) -> Awaitable[None]:
        return self._app.start()

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
        content = b"" if scope["method"] == "HEAD" else body
        return await send({"type": "http.response.body", "body": content})

    async def _answer(self, kind: str, scope: AsgiScope) -> tuple[int, Pairs, bytes]:
        headers = dict(scope["headers"])
        problem = self._head_policy.check_source(headers.get(b"host"), headers.get(b"origin"))
        if problem is None and scope["method"] == "OPTIONS":
            return 204, PREFLIGHT, b""
        problem = problem or self._problem(kind, scope)
        if problem is not None:
            return problem.status, (JSON, ANY_ORIGIN, *problem.headers), problem.body()
        caller: Scope | None = scope.get("assay")
        body = await self._manifests.write(kind, None if caller is None else caller.scopes)
        tag = etag(body)
        fields = ((b"etag", tag), ANY_ORIGIN, *(PUBLIC if caller is None else PRIVATE))
        if matches(headers.get(b"if-none-match", b""), tag):
            return 304, fields, b""
        return 200, (JSON, *fields), body

    def _problem(self, kind: str, scope: AsgiScope) -> Refusal | None:
        if scope["method"] not in ("GET", "HEAD"):
            return Refusal(405, "manifests are read-only", (ALLOW,))
        caller: Scope | None = scope.get("assay")
        needed = self._manifests.needs(kind)
        if caller is None or caller.scopes is None or caller.scopes.issuperset(needed):
            return None
        return Refusal(403, f"insufficient scope: needs {' '.join(needed)}", challenged(scope, needed))


def challenged(scope: AsgiScope, needed: Iterable[str]) -> Pairs:
    """The challenge with the required scopes, if the server requires authorization."""
    challenge = scope.get("assay.challenge")
    if challenge is None:
        return ()
    return ((b"www-authenticate", challenge(403, "insufficient_scope", needed)),)


def matches(condition: bytes, tag: bytes) -> bool:
    """Whether `If-None-Match` names this document (RFC 9110, 13.1.2: weak comparison)."""
    tags = [part.strip().removeprefix(b"W/") for part in condition.split(b",")]
    return tag in tags or b"*" in tags
