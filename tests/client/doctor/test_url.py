"""Each step to a server at a URL, failing on a real socket: the problem, and the setting to change."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import json
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from assay.client.doctor import Diagnosis, Status, diagnose
from assay.client.doctor.document import _Reader
from assay.client.doctor.step import Setup
from assay.transport.client.url import read_address
from assay.transport.http1.tls import make_context
from tests.cli.calls.calculator import on_http, server
from tests.client.scripted import (
    DISCOVERY,
    INITIALIZED,
    HttpRequest,
    Writer,
    http_response,
    raw_http,
    result,
)
from tests.driving.certificates import DAY, Authority
from tests.driving.hosts import on_assay

Respond = Callable[[HttpRequest, Writer], Awaitable[None]]


def step(diagnosis: Diagnosis, name: str) -> tuple[str, str, str]:
    chosen = [step for step in diagnosis.steps if step.name == name]
    assert chosen, f"no step {name}: {diagnosis.steps}"
    return chosen[0].status.value, chosen[0].detail, chosen[0].fix


async def test_a_good_server_passes_every_step() -> None:
    async with on_http() as url:
        diagnosis = await diagnose(url)
    assert diagnosis.ok
    assert [step.name for step in diagnosis.steps] == [
        "name", "tcp", "http", "metadata", "auth", "protocol", "list",
    ]  # fmt: skip
    assert step(diagnosis, "list")[1] == "9 tools"
    assert all(step.ms is not None for step in diagnosis.steps if step.name in ("name", "tcp", "http"))


async def test_a_websocket_is_opened_without_http_steps() -> None:
    async with on_assay(server.asgi(websocket="on")) as port:
        diagnosis = await diagnose(f"ws://127.0.0.1:{port}/mcp/ws")
    assert diagnosis.ok
    assert [step.name for step in diagnosis.steps] == ["name", "tcp", "protocol", "list"]


# Name and TCP.


async def test_an_unknown_name() -> None:
    diagnosis = await diagnose("http://no-such-host.invalid/mcp")
    status, detail, fix = step(diagnosis, "name")
    assert (status, len(diagnosis.steps)) == ("failed", 1)
    assert "no-such-host.invalid cannot be resolved" in detail and "spelling" in fix


async def test_a_closed_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    diagnosis = await diagnose(f"http://127.0.0.1:{port}/mcp")
    status, detail, fix = step(diagnosis, "tcp")
    assert (status, len(diagnosis.steps)) == ("failed", 2)
    assert "Connection refused" in detail and f"on port {port}?" in fix


async def test_an_address_of_the_host_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolve(host: str, port: int, **options: Any) -> list[Any]:
        return [(0, 0, 0, "", (address, port)) for address in ("127.0.0.2", "127.0.0.1")]

    async with on_http() as url:
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
        diagnosis = await diagnose(url.replace("127.0.0.1", "localhost"))
    status, detail, fix = step(diagnosis, "tcp")
    assert status == "warning"
    assert "open on 127.0.0.1, but 127.0.0.2: Connection refused" in detail and "DNS" in fix


# TLS.


class Tls(NamedTuple):
    ends: datetime.timedelta = DAY * 100
    host: str = "127.0.0.1"
    trusted: bool = True


@contextlib.asynccontextmanager
async def encrypted(folder: Path, tls: Tls) -> AsyncIterator[tuple[str, ssl.SSLContext | None]]:
    authority = Authority(folder, "authority")
    pair = authority.issue("server", ends=tls.ends)

    async def close(reader: asyncio.StreamReader, writer: Writer) -> None:
        writer.close()

    listening = await asyncio.start_server(close, "127.0.0.1", 0, ssl=make_context(pair.cert, pair.key, None))
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        yield f"https://{tls.host}:{port}/mcp", authority.client_context() if tls.trusted else None


@pytest.mark.parametrize(
    ("tls", "status", "detail", "fix"),
    [
        (Tls(), "ok", "certificate of authority, valid until", ""),
        (Tls(ends=DAY * 3), "warning", "2 days left", "renew"),
        (Tls(ends=-DAY / 2), "failed", "it has expired", "renew"),
        (Tls(trusted=False), "failed", "not signed by a trusted authority", "--ca"),
        (Tls(host="127.0.0.2"), "failed", "for another address", "use the name in the certificate"),
    ],
)
async def test_certificates(
    tmp_path: Path, tls: Tls, status: str, detail: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resolve(host: str, port: int, **options: Any) -> list[Any]:
        return [(0, 0, 0, "", ("127.0.0.1", port))]

    async with encrypted(tmp_path, tls) as (url, context):
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
        diagnosis = await diagnose(url, tls=context)
    measured = step(diagnosis, "tls")
    assert measured[0] == status and detail in measured[1] and fix in measured[2]


async def test_a_server_without_tls() -> None:
    async with on_http() as url:
        diagnosis = await diagnose(url.replace("http://", "https://"))
    status, detail, fix = step(diagnosis, "tls")
    assert (status, detail) == ("failed", "the server does not speak TLS on this port")
    assert "write http://" in fix


async def test_a_server_that_wants_a_certificate(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    pair = authority.issue("server")
    context = make_context(pair.cert, pair.key, authority.file)

    async def serve(reader: asyncio.StreamReader, writer: Writer) -> None:
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context) as listening:
        port = listening.sockets[0].getsockname()[1]
        diagnosis = await diagnose(f"https://127.0.0.1:{port}/mcp", tls=authority.client_context())
    assert not diagnosis.ok
    assert "--client-cert" in diagnosis.steps[-2].fix or "--client-cert" in diagnosis.steps[-1].fix


# HTTP.


def answer(status: str, body: bytes = b"", kind: str = "text/html", extra: str = "") -> Respond:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(http_response(status, body, kind, extra))

    return respond


async def silent(request: HttpRequest, writer: Writer) -> None:
    return


async def garbage(request: HttpRequest, writer: Writer) -> None:
    writer.write(b"\x16\x03\x01 nonsense\r\n\r\n")


HTTP: dict[str, tuple[Respond, str, str]] = {
    "a web page": (answer("200 OK", b"<html>Hi"), "status 200, text/html, not a message: <html>Hi", "/mcp"),
    "not found": (answer("404 Not Found"), "status 404", "often it ends with /mcp"),
    "a gateway": (answer("502 Bad Gateway"), "status 502", "is it running?"),
    "busy": (answer("503 Service Unavailable"), "status 503", "try again later"),
    "moved": (
        answer("301 Moved", extra="Location: https://other.example/mcp\r\n"),
        "redirected to https://other.example/mcp", "use that URL if you trust it",
    ),
    "moved to another origin": (
        answer("307 Moved", extra="Location: https://other.example/mcp\r\n"),
        "redirected to https://other.example/mcp", "another origin",
    ),
    "not HTTP": (garbage, "HTTP response is invalid", "write https://"),
    "silence": (silent, "no response in 0.2 s", "is this an MCP endpoint?"),
}  # fmt: skip


@pytest.mark.parametrize("name", HTTP)
async def test_an_endpoint_that_is_none(name: str) -> None:
    respond, detail, fix = HTTP[name]
    async with raw_http(respond) as raw:
        diagnosis = await diagnose(raw.url, timeout=0.2 if name == "silence" else 5)
    measured = step(diagnosis, "http")
    assert measured[0] == "failed" and detail in measured[1] and fix in measured[2]
    assert diagnosis.steps[-1].status is Status.SKIPPED


async def test_a_redirect_within_the_origin_is_followed_with_a_warning() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        if request.target == "/mcp":
            writer.write(http_response("308 Moved", extra="Location: /mcp/\r\n"))
        elif request.method == "GET":
            writer.write(http_response("404 Not Found"))
        else:
            reply = {"tools": []} if request.message["method"] == "tools/list" else DISCOVERY
            writer.write(http_response("200 OK", result(request, reply)))

    async with raw_http(respond) as raw:
        diagnosis = await diagnose(raw.url)
    assert diagnosis.ok
    status, detail, fix = step(diagnosis, "http")
    assert (status, detail) == ("warning", "redirected to /mcp/")
    assert f"use {raw.url}/" in fix


async def test_an_older_server_is_asked_as_older_clients_ask_and_its_session_is_ended() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        if request.method != "POST" or request.message["method"] == "server/discover":
            writer.write(http_response("400 Bad Request", b"no session", "text/plain"))
        elif "id" not in request.message:
            writer.write(http_response("202 Accepted"))
        else:
            extra = "Mcp-Session-Id: abc\r\n"
            writer.write(http_response("200 OK", result(request, INITIALIZED), extra=extra))

    async with raw_http(respond) as raw:
        diagnosis = await diagnose(raw.url)
    assert diagnosis.ok
    assert step(diagnosis, "list")[0] == "skipped"
    ended = [request for request in raw.requests if request.method == "DELETE"]
    assert {request.headers["mcp-session-id"] for request in ended} == {"abc"} and len(ended) == 2


async def test_a_server_with_the_old_transport_is_named_as_such() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        if request.method == "GET" and request.headers.get("accept") == "text/event-stream":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        else:
            writer.write(http_response("405 Method Not Allowed"))

    async with raw_http(respond) as raw:
        diagnosis = await diagnose(raw.url, timeout=0.5)
    assert step(diagnosis, "http")[:2] == ("warning", "HTTP+SSE, the transport of the first revision")


# Well-known documents and credentials.


def protected(
    documents: dict[str, Any], status: str = "401 Unauthorized", challenge: str = "Bearer"
) -> Respond:
    """Answers messages with this status, and paths with these documents; `{base}` is the server's origin."""

    async def respond(request: HttpRequest, writer: Writer) -> None:
        base = f"http://{request.headers['host']}"
        if request.target in documents:
            body = json.dumps(documents[request.target]).replace("{base}", base).encode()
            writer.write(http_response("200 OK", body))
        elif request.method == "GET":
            writer.write(http_response("404 Not Found"))
        else:
            extra = f"WWW-Authenticate: {challenge.replace('{base}', base)}\r\n"
            writer.write(http_response(status, extra=extra))

    return respond


WELL_KNOWN = "/.well-known/oauth-protected-resource"
GOOD = {"resource": "{base}/mcp", "authorization_servers": ["{base}/as"]}
ISSUER = {"issuer": "{base}/as", "code_challenge_methods_supported": ["S256"], "registration_endpoint": "x"}
AS = "/.well-known/oauth-authorization-server/as"
DOCUMENTS: dict[str, tuple[dict[str, Any], str, str, str, str]] = {
    "complete": ({f"{WELL_KNOWN}/mcp": GOOD, AS: ISSUER}, "authorization server", "ok", "can register", ""),
    "at the root": ({WELL_KNOWN: GOOD, AS: ISSUER}, "metadata", "ok", "names", ""),
    "by OpenID": (
        {WELL_KNOWN: GOOD, "/as/.well-known/openid-configuration": ISSUER},
        "authorization server", "ok", "openid-configuration", "",
    ),
    "none": ({}, "metadata", "failed", "no protected-resource metadata", f"{WELL_KNOWN}/mcp"),
    "a list": ({WELL_KNOWN: []}, "metadata", "failed", "no protected-resource metadata", "serve it"),
    "of another server": (
        {WELL_KNOWN: {**GOOD, "resource": "https://other.example/mcp"}},
        "metadata", "failed", "is for https://other.example/mcp", "set `resource`",
    ),
    "without issuer": (
        {WELL_KNOWN: {"resource": "{base}"}}, "metadata", "failed", "names no authorization server", "issuer",
    ),
    "issuer not there": ({WELL_KNOWN: GOOD}, "authorization server", "failed", "no metadata", "reachable"),
    "another issuer": (
        {WELL_KNOWN: GOOD, AS: {**ISSUER, "issuer": "{base}/as/"}},
        "authorization server", "failed", "/as/, not", "same text",
    ),
    "without PKCE": (
        {WELL_KNOWN: GOOD, AS: {"issuer": "{base}/as"}},
        "authorization server", "warning", "does not announce PKCE", "S256",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTS)
async def test_well_known_documents(name: str) -> None:
    documents, step_name, status, detail, fix = DOCUMENTS[name]
    async with raw_http(protected(documents)) as raw:
        diagnosis = await diagnose(raw.url, headers={"Authorization": "Bearer secret"})
    measured = step(diagnosis, step_name)
    assert measured[0] == status and detail in measured[1] and fix in measured[2]
    assert all("authorization" not in request.headers for request in raw.requests if request.method == "GET")


async def test_the_challenge_names_the_document() -> None:
    challenge = 'Bearer resource_metadata="{base}/here"'
    async with raw_http(protected({"/here": GOOD, AS: ISSUER}, challenge=challenge)) as raw:
        diagnosis = await diagnose(raw.url)
    assert step(diagnosis, "metadata")[0] == "ok"


@pytest.mark.parametrize(
    ("peer", "url", "zone"),
    [
        ("93.184.215.14", "{raw}", "this machine"),
        ("93.184.215.14", "https://10.0.0.5/", "a private network"),
        ("10.0.0.5", "{raw}", "this machine"),
        ("10.0.0.5", "http://169.254.169.254/latest", "a special network"),
        ("127.0.0.1", "http://169.254.169.254/latest", "a special network"),
    ],
)
async def test_a_server_cannot_point_into_another_network(peer: str, url: str, zone: str) -> None:
    """By the address at which it was reached, not by what its name resolves to at another time."""
    server = read_address("https://mcp.example/mcp")
    async with raw_http(protected({WELL_KNOWN: GOOD})) as raw:
        _, document, problem = await _Reader(Setup(), server, peer).first([url.replace("{raw}", raw.url)])
        assert raw.requests == []
    assert document is None and f"it is in {zone}" in problem


async def test_a_document_is_read_from_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    names: list[str] = []

    async def rebinding(host: str, port: int, **options: Any) -> Any:
        names.append(host)
        return [(0, 0, 0, "", ("127.0.0.1" if len(names) == 1 else "10.255.255.1", port))]

    async with raw_http(protected({WELL_KNOWN: GOOD})) as raw:
        url = raw.url.replace("127.0.0.1", "as.example")
        monkeypatch.setattr(loop, "getaddrinfo", rebinding)
        await _Reader(Setup(), read_address("http://mcp.example/mcp"), "127.0.0.1").first([url])
        assert len(raw.requests) == 1
    assert names == ["as.example"]


CREDENTIALS = {
    "none": ("401 Unauthorized", 'Bearer scope="read"', None, "wants credentials", "scope read: --token"),
    "refused": (
        "401 Unauthorized", 'Bearer error="invalid_token", error_description="it expired"',
        "Bearer x", "does not accept the token, status 401: it expired", "get a new one",
    ),
    "too few scopes": (
        "403 Forbidden", 'Bearer error="insufficient_scope", scope="admin"',
        "Bearer x", "refuses this caller, status 403: insufficient_scope", "get a token with the scope admin",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CREDENTIALS)
async def test_credentials(name: str) -> None:
    status, challenge, token, detail, fix = CREDENTIALS[name]
    async with raw_http(protected({}, status, challenge)) as raw:
        diagnosis = await diagnose(raw.url, headers={} if token is None else {"Authorization": token})
    measured = step(diagnosis, "auth")
    assert measured[0] == "failed" and detail in measured[1] and fix in measured[2]
    assert step(diagnosis, "protocol")[0] == "skipped"


# The protocol.


def speaking(**answers: Any) -> Respond:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        if request.method == "GET":
            writer.write(http_response("404 Not Found"))
            return
        reply = answers.get(request.message["method"].replace("/", "_"))
        error = {
            "jsonrpc": "2.0",
            "id": request.message.get("id"),
            "error": {"code": -32603, "message": "broken"},
        }
        writer.write(http_response("200 OK", result(request, reply) if reply else json.dumps(error).encode()))

    return respond


async def test_a_server_without_a_common_revision() -> None:
    unknown = {**INITIALIZED, "protocolVersion": "1999-01-01"}
    async with raw_http(speaking(initialize=unknown)) as raw:
        diagnosis = await diagnose(raw.url)
    status, detail, _ = step(diagnosis, "protocol")
    assert status == "failed" and "1999-01-01" in detail
    assert step(diagnosis, "list")[0] == "skipped"


async def test_a_list_that_cannot_be_read() -> None:
    async with raw_http(speaking(server_discover=DISCOVERY)) as raw:
        diagnosis = await diagnose(raw.url)
    status, detail, fix = step(diagnosis, "list")
    assert status == "failed" and "tools/list: broken" in detail and "log" in fix


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("ftp://x/", {}),
        ("http://x y/", {}),
        ("http://x/", {"revision": "x"}),
        ("http://x/", {"headers": {"a b": "c"}}),
    ],
)
async def test_invalid_arguments_are_refused_before_anything_is_sent(
    url: str, options: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"."):
        await diagnose(url, **options)


@pytest.mark.parametrize("status", ["401 Unauthorized", "200 OK", "500 Internal Server Error"])
async def test_a_server_that_repeats_the_credentials_does_not_bring_them_into_the_diagnosis(
    status: str,
) -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        echo = json.dumps(request.headers)
        challenge = f'WWW-Authenticate: Bearer error_description="{request.headers["x-key"]}"\r\n'
        writer.write(http_response(status, echo.encode(), "text/plain", challenge))

    headers = {"Authorization": "Bearer top-secret", "X-Key": "k-123456"}
    async with raw_http(respond) as raw:
        text = json.dumps(
            [step.detail + step.fix for step in (await diagnose(raw.url, headers=headers)).steps]
        )
    assert "top-secret" not in text and "k-123456" not in text and "(hidden)" in text
