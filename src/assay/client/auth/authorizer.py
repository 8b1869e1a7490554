"""Adds tokens to the requests of a client, and gets them: one authorization at a time."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Coroutine
from typing import Any, Final

import msgspec

from assay.client.log import client_logger
from assay.model.client_error import AuthorizationFailed, ClientClosed, ClientError
from assay.protocol.oauth.address import server_url
from assay.protocol.oauth.challenge import Challenge, read_challenge
from assay.protocol.oauth.dpop import Proofs
from assay.protocol.oauth.effect import Environment
from assay.protocol.oauth.grant import Authorization
from assay.protocol.oauth.record import Record, Tokens
from assay.transport.client.port import RefusedRequest, RequestLines

from .flow_driver import FlowDriver
from .http_client import HttpClient
from .plan import Connection, Plan
from .signing import JwtSigner, new_key

LEEWAY: Final = 30.0
"""Seconds before its end when a token is refreshed."""
ATTEMPTS: Final = 3
"""Times that one request is sent again."""
CLOSE_SECONDS: Final = 2.0
DENIED: Final = "access_denied"


class TokenAuthorizer:
    """Implements the port `Authorizer` of transports."""

    def __init__(self, plan: Plan, connection: Connection) -> None:
        self._plan = plan
        url = server_url(connection.url)
        self._http = HttpClient(url, plan.trusted, connection.tls, proxy=connection.proxy)
        self._key = f"{url} {plan.account}"
        self._environment = Environment(time.time, lambda: secrets.token_urlsafe(32))
        self._authorization = Authorization(
            url, plan.grant, self._environment, self._get_proofs, plan.scopes, plan.dpop, plan.signer
        )
        self._record: Record | None = None
        self._proofs: Proofs | None = None
        self._generation = 0
        """Counts the tokens, so that a refused request shows which one it had."""
        self._granted = -1
        """The last generation that did not come from a refresh token."""
        self._attempted: frozenset[str] = frozenset()
        """Scopes that were requested since this client exists."""
        self._task: asyncio.Task[None] | None = None

    @property
    def patience(self) -> float:
        return self._plan.timeout

    # The port.

    @property
    def generation(self) -> int:
        return self._generation

    async def lines(self, method: str, url: str) -> RequestLines:
        record = self._record if self._record is not None else await self._load()
        tokens = record.tokens
        if tokens is not None and tokens.is_stale(time.time() + LEEWAY) and tokens.refresh_token is not None:
            tokens = await self._renewed(tokens)
        if tokens is None:
            return RequestLines("", self._generation)
        lines = f"Authorization: {tokens.token_type} {tokens.access_token}\r\n"
        if tokens.token_type == "DPoP":
            lines += f"DPoP: {self._get_proofs().make(method, url, tokens.access_token)}\r\n"
        return RequestLines(lines, self._generation)

    async def _renewed(self, tokens: Tokens) -> Tokens | None:
        try:
            await self._share(self._renew)
        except AuthorizationFailed as error:
            if tokens.is_stale(time.time()):
                raise
            client_logger().warning(
                "the token is used until it expires, because refreshing failed: %s", error
            )
            return tokens
        return self._current

    async def recover(self, refused: RefusedRequest) -> bool:
        challenge = read_challenge(refused.headers)
        if refused.peer:
            self._http.place(refused.peer)
        has_nonce = self._proofs is not None and self._proofs.learn(refused.url, refused.headers)
        if has_nonce and challenge.needs_nonce:
            return refused.attempt < ATTEMPTS
        if not self._is_worth_trying(refused, challenge):
            return False
        if refused.generation == self._generation:
            await self._share(lambda: self._authorize(challenge, refused.version))
        return True

    def context(self) -> str:
        if self._task is None or self._task.done():
            return ""
        return "\n  the authorization is still in progress: complete it, and call again"

    async def close(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task], timeout=CLOSE_SECONDS)

    def _is_worth_trying(self, refused: RefusedRequest, challenge: Challenge) -> bool:
        if refused.attempt >= ATTEMPTS:
            return False
        if refused.generation != self._generation:
            return True  # another request got a new token meanwhile
        if refused.status == 403:
            # The same request again would not help; the user may have refused these scopes.
            return challenge.needs_scope and not self._attempted.issuperset(challenge.scopes)
        # A token that was just granted, and is refused: another would be, too.
        return refused.attempt == 0 or self._granted != refused.generation

    # One authorization at a time.

    async def _share(self, make: Any) -> None:
        """Wait for the authorization in progress, or begin one. It continues if a call stops waiting."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._bounded(make()))
            self._task.add_done_callback(_log_failure)
        task = self._task
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled() and not _is_cancelled():
                raise ClientClosed from None  # the client was closed, and not this call cancelled
            raise

    async def _bounded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            async with asyncio.timeout(self._plan.timeout):
                await work
        except TimeoutError as error:
            if isinstance(error, ClientError):
                raise
            raise AuthorizationFailed(
                f"the authorization took more than {self._plan.timeout:g} s: raise timeout= of auth="
            ) from None

    async def _renew(self) -> None:
        stored = await self._load()
        is_replaced = stored.tokens != self._current and not _is_stale(stored.tokens)
        if is_replaced or stored.tokens is None:
            return self._use(stored)  # another process was first
        record = await self._driver().run(self._authorization.renew(stored))
        if record is None:
            client_logger().debug("the refresh token was rejected")
            record = stored.updated(stored.issuer, tokens=None)
        await self._save(record)

    async def _authorize(self, challenge: Challenge, version: str | None) -> None:
        record = await self._load()
        if record.tokens != self._current and not _is_stale(record.tokens) and not challenge.needs_scope:
            return self._use(record)  # another process was first
        try:
            outcome = await self._driver().run(self._authorization.authorize(record, challenge, version))
        except AuthorizationFailed as error:
            if error.error == DENIED:
                self._attempted |= {*challenge.scopes}  # the next call does not ask the user again
            raise
        await self._save(outcome.record)
        if not outcome.refreshed:
            self._granted = self._generation
        credentials = outcome.record.at(outcome.record.issuer)
        self._attempted |= {*challenge.scopes, *credentials.requested}

    def _driver(self) -> FlowDriver:
        return FlowDriver(self._plan, self._http, self._save)

    # What is stored.

    @property
    def _current(self) -> Tokens | None:
        return None if self._record is None else self._record.tokens

    async def _load(self) -> Record:
        text = await self._plan.storage.load(self._key)
        try:
            record = Record() if text is None else msgspec.json.decode(text, type=Record)
        except (msgspec.DecodeError, RecursionError):
            client_logger().warning("the stored tokens cannot be read, and are replaced")
            record = Record()
        if self._record is None:
            self._use(record)
        return record

    async def _save(self, record: Record) -> None:
        if self._proofs is not None:
            record = msgspec.structs.replace(record, key=self._pem)
        self._use(record)
        await self._plan.storage.save(self._key, msgspec.json.encode(record).decode())

    def _use(self, record: Record) -> None:
        if self._proofs is not None and record.key not in ("", self._pem):
            self._proofs = None  # another process has a key of its own
        if record.tokens != self._current:
            self._generation += 1
        self._record = record

    def _get_proofs(self) -> Proofs:
        if self._proofs is None:
            stored = "" if self._record is None else self._record.key
            self._pem = stored or new_key()
            self._proofs = Proofs(JwtSigner(self._pem), self._environment)
        return self._proofs


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _log_failure(task: asyncio.Task[None]) -> None:
    """Also if no call waits any more."""
    if not task.cancelled() and (error := task.exception()) is not None:
        client_logger().debug("the authorization failed: %s", error)


def _is_stale(tokens: Tokens | None) -> bool:
    return tokens is None or tokens.is_stale(time.time() + LEEWAY)
