"""The HTTP endpoint: whether it answers MCP messages, redirects, or wants credentials."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Final

import msgspec

from assay.model.client_error import ClientError
from assay.model.definition import Implementation
from assay.model.jsonrpc import Request
from assay.model.version import VERSION
from assay.protocol.codec import encode
from assay.protocol.opening import Identity, declaration
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Revision
from assay.transport.client.http_head import check_headers, mirror_lines, user_lines
from assay.transport.client.http_hint import HINTS
from assay.transport.client.http_probe import ProbeReply, probe
from assay.transport.client.url import Address, redirected

from .opening import initialize_params
from .step import Setup, Status, Step, failed, passed, warned

ACCEPT: Final = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
MESSAGES: Final = ("application/json", "text/event-stream")
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
ANOTHER_ORIGIN: Final = (
    "use that URL if you trust it: a client must not take its headers to another origin,"
    " nor turn a POST into a GET"
)
OLD_TRANSPORT: Final = "HTTP+SSE, the transport of the first revision"
CHARACTERS: Final = 200
"""Characters of a body or header."""
CREDENTIALS: Final = "--token TOKEN or --oauth, auth= in code"
_PARAMETER: Final = re.compile(r'\b(realm|error|error_description|scope|resource_metadata)="([^"]{0,2000})"')


async def ask(address: Address, setup: Setup) -> tuple[Step, ProbeReply | None]:
    """Send the first message of a client; if the server refuses it, the first of an older one."""
    start = time.perf_counter()
    try:
        async with asyncio.timeout(setup.timeout):
            reply = await _first(address, setup, _discover(), PER_REQUEST[-1])
            location = reply.headers.get("location", "") if reply.status in REDIRECTS else None
            if location is not None:
                following = _following(address, reply)
                if following is None:
                    return failed("http", f"status {reply.status}: {_leads(location)}", ANOTHER_ORIGIN), None
                address = following
                reply = await _first(address, setup, _discover(), PER_REQUEST[-1])
            if _is_refused(reply):
                reply = await _first(address, setup, _initialize(), HANDSHAKE[-1])
                await _end_session(address, setup, reply)
            if _is_refused(reply) and await _has_event_stream(address, setup):
                return warned("http", OLD_TRANSPORT, "serve Streamable HTTP, too"), reply
    except TimeoutError:
        fix = "is this an MCP endpoint? is the server busy, or waiting for something it calls itself?"
        return failed("http", f"no response in {setup.timeout:g} s", fix), None
    except ClientError as error:
        return failed("http", str(error), _transport_fix(address)), None
    step = _judge(reply, round(1000 * (time.perf_counter() - start), 1))
    if location is not None and step.status is Status.OK:
        step = warned("http", _leads(location), f"use {address.url}: now every call costs two requests")
    return step, reply


async def _first(address: Address, setup: Setup, message: Request, revision: Revision) -> ProbeReply:
    lines = user_lines(check_headers(setup.headers or {})) + ACCEPT + mirror_lines(message, revision, {})
    if revision.http.mirrored is not None:
        lines += f"MCP-Protocol-Version: {revision.date}\r\n"
    return await probe("POST", address, lines, encode(message), setup.tls, setup.limits)


def _discover() -> Request:
    identity = Identity(Implementation("assay-doctor", VERSION), {})
    return Request("doctor-1", "server/discover", {"_meta": declaration(identity, PER_REQUEST[-1])})


def _initialize() -> Request:
    return Request("doctor-2", "initialize", initialize_params())


async def _has_event_stream(address: Address, setup: Setup) -> bool:
    """Whether a GET opens the stream of HTTP+SSE, which the client falls back to."""
    lines = f"{user_lines(check_headers(setup.headers or {}))}Accept: text/event-stream\r\n"
    reply = await probe("GET", address, lines, b"", setup.tls, setup.limits)
    return reply.status == 200 and reply.media_type == MESSAGES[1]


async def _end_session(address: Address, setup: Setup, reply: ProbeReply) -> None:
    session = reply.headers.get("mcp-session-id", "")
    if session and session.isascii() and session.isprintable():
        lines = f"{user_lines(check_headers(setup.headers or {}))}Mcp-Session-Id: {session}\r\n"
        await probe("DELETE", address, lines, b"", setup.tls, setup.limits)


def _following(address: Address, reply: ProbeReply) -> Address | None:
    """Where a redirect leads to, if a client may follow it: within the origin, with the same method."""
    location = reply.headers.get("location", "")
    if reply.status not in (307, 308) or not location:
        return None
    try:
        return redirected(address, location)
    except ValueError:
        return None


def _leads(location: str) -> str:
    return f"redirected to {location[:CHARACTERS] or 'nowhere'}"


def _is_refused(reply: ProbeReply) -> bool:
    """Whether another message or transport may work: not if credentials are missing."""
    return 400 <= reply.status < 500 and reply.status not in (401, 403) and not _is_rpc(reply)


def _is_rpc(reply: ProbeReply) -> bool:
    try:
        body = msgspec.json.decode(reply.body)
    except (msgspec.DecodeError, RecursionError):
        return False
    return isinstance(body, dict) and "jsonrpc" in body


def _judge(reply: ProbeReply, ms: float) -> Step:
    kind = reply.media_type or "no content type"
    if reply.status in (401, 403):
        return passed("http", f"status {reply.status}: the server answers, and wants credentials", ms)
    if _is_rpc(reply) or (reply.status < 300 and reply.media_type == MESSAGES[1]):
        return passed("http", f"status {reply.status}, {kind}", ms)
    beginning = " ".join(reply.body[:CHARACTERS].decode(errors="replace").split())
    detail = f"status {reply.status}, {kind}, not a message{f': {beginning}' if beginning else ''}"
    default = "this is not an MCP endpoint: check the path of the URL, often it ends with /mcp"
    return failed("http", detail, HINTS.get(reply.status, default))


def _transport_fix(address: Address) -> str:
    if not address.is_encrypted:
        return "does this port speak HTTP? if it is encrypted, write https://"
    # A server that wants a certificate often says so after the handshake, in an alert that is not passed on.
    return "if the server wants a client certificate, pass --client-cert (tls= in code); else look at its log"


# Credentials.


def challenge(reply: ProbeReply) -> dict[str, str]:
    """The parameters of the WWW-Authenticate header."""
    return dict(_PARAMETER.findall(reply.headers.get("www-authenticate", "")[:8000]))


def judge_credentials(reply: ProbeReply, setup: Setup) -> Step:
    has_token = any(name.lower() == "authorization" for name in setup.headers or {})
    if reply.status not in (401, 403):
        return passed("auth", "the credentials are accepted" if has_token else "none are needed")
    if setup.auth is not None and reply.status == 401:
        return passed("auth", "the server wants credentials, which the next step gets")
    words = challenge(reply)
    reason = words.get("error_description") or words.get("error") or ""
    detail = f"status {reply.status}{f': {reason[:CHARACTERS]}' if reason else ''}"
    scope = words.get("scope", "")[:CHARACTERS]
    if reply.status == 403:
        fix = f"get a token with the scope {scope}" if scope else "is this user allowed to use the server?"
        return failed("auth", f"the server refuses this caller, {detail}", fix)
    if has_token:
        fix = "is the token expired, of another issuer, or for another server? get a new one for this URL"
        return failed("auth", f"the server does not accept the token, {detail}", fix)
    wish = f" with the scope {scope}" if scope else ""
    return failed("auth", f"the server wants credentials, {detail}", f"pass a token{wish}: {CREDENTIALS}")
