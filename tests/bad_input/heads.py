"""Rows about HTTP heads, with valid messages as bodies."""

from __future__ import annotations

import gzip
from typing import Any

from assay.model.error import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR
from tests.bad_input.messages import PING, message
from tests.bad_input.row import NOTHING, After, Answer, Failed, Head, Reply, Row, Served, Setting, on_http

LONG = "x" * 20_000
HUGE = "x" * 70_000
ALONE = Setting.ALONE


def refused(status: int, text: str = "", **more: Any) -> Answer:
    return Answer(Failed(INVALID_REQUEST, text=text), status, **more)


def header(
    name: str, case: str, values: tuple[str, ...], answer: Reply | Answer, because: str, **more: Any
) -> Row:
    """A valid request in which one header has these values instead."""
    changed = tuple((name.lower(), value) for value in values)
    method = more.pop("method", "POST")
    head = Head(method=method, without=(name.lower(),), changed=changed)
    body = more.pop("sent", PING if method == "POST" else b"")
    sent = f"{name}: {shorten(values)}" if values else f"no {name}"
    return on_http(f"`{name}` {case}", body, answer, because, head=head, display=sent, **more)


def shorten(values: tuple[str, ...]) -> str:
    return " and ".join(value if len(value) < 60 else f"{value[:12]}… ({len(value)})" for value in values)


TWICE = refused(400, "header given twice")
NO_HTTP = refused(400, "not a valid HTTP request", after=After.CLOSED)
TOO_LONG = refused(431, "headers too large", after=After.CLOSED)
BOUNDED = "a head is limited to 64 KiB"
DECIDES = "a decision depends on it: two values would be ambiguous"

HOST = "protects local servers against DNS rebinding"
HOSTS = [
    header("Host", "missing", (), refused(421, "host not allowed"), HOST),
    header("Host", "empty", ("",), refused(421, "host not allowed"), HOST),
    header("Host", "wrong", ("evil.example",), refused(421, "host not allowed"), HOST),
    header("Host", "with an allowed name inside", ("localhost.evil.example",), refused(421), HOST),
    header("Host", "with a user in front", ("localhost@evil.example",), refused(421), HOST),
    header("Host", "twice", ("localhost", "evil.example"), TWICE, DECIDES),
    header("Host", "oversized", (LONG,), refused(421), HOST),
    header("Host", "over the limit", (HUGE,), TOO_LONG, BOUNDED),
    header("Host", "with an invalid port", ("localhost:1@evil.example",), refused(421), HOST),
    header("Host", "with text after its brackets", ("[::1].evil.example",), refused(421), HOST),
    header("Origin", "missing", (), Served(1), "only browsers send it"),
    header("Origin", "wrong", ("https://evil.example",), refused(403, "origin not allowed"), HOST),
    header("Origin", "empty", ("",), refused(403), HOST),
    header("Origin", "null", ("null",), refused(403), "sent by sandboxed pages and local files"),
    header("Origin", "of another scheme", ("file://localhost",), refused(403), HOST),
    header("Origin", "with a user in front", ("http://localhost:1@evil.example",), refused(403), HOST),
    header("Origin", "twice", ("http://localhost", "https://evil.example"), TWICE, DECIDES),
    header("Origin", "over the limit", (HUGE,), TOO_LONG, BOUNDED),
    header("Origin", "oversized", (f"https://{LONG}.example",), refused(403), HOST),
]

TYPE = "transports: the body is application/json; UTF-8 is the only charset of JSON"
ACCEPT = "transports: the client must list both types"
NEGOTIATION = [
    header("Content-Type", "missing", (), refused(415, "content-type missing"), TYPE),
    header("Content-Type", "empty", ("",), refused(415), TYPE),
    header("Content-Type", "wrong", ("text/plain",), refused(415, "content-type not supported"), TYPE),
    header("Content-Type", "nearly right", ("application/jsonl",), refused(415), TYPE),
    header("Content-Type", "of a form", ("application/x-www-form-urlencoded",), refused(415), TYPE),
    header(
        "Content-Type",
        "with UTF-8",
        ('Application/JSON; charset="UTF-8"',),
        Served(1),
        "media types are case-insensitive",
    ),
    header(
        "Content-Type",
        "with another charset",
        ("application/json; charset=latin-1",),
        refused(415, "charset not supported"),
        TYPE,
    ),
    header("Content-Type", "with UTF-16", ("application/json; charset=utf-16",), refused(415), TYPE),
    header("Content-Type", "with an empty charset", ("application/json; charset=",), refused(415), TYPE),
    header("Content-Type", "twice", ("application/json", "text/plain"), TWICE, DECIDES),
    header("Content-Type", "oversized", (f"application/{LONG}",), refused(415), TYPE),
    header(
        "Content-Encoding",
        "gzip",
        ("gzip",),
        Failed(PARSE_ERROR, text="UTF-8"),
        "not supported: the body is not decompressed",
        sent=gzip.compress(PING, mtime=0),
    ),
    header("Accept", "missing", (), refused(406, "accept must list"), ACCEPT),
    header("Accept", "empty", ("",), refused(406), ACCEPT),
    header(
        "Accept", "without event streams", ("application/json",), refused(406, "text/event-stream"), ACCEPT
    ),
    header("Accept", "without JSON", ("text/event-stream",), refused(406, "application/json"), ACCEPT),
    header(
        "Accept", "with JSON excluded", ("application/json;q=0, text/event-stream",), refused(406), ACCEPT
    ),
    header(
        "Accept", "with a bad quality", ("application/json;q=high, text/event-stream",), refused(406), ACCEPT
    ),
    header("Accept", "of anything", ("*/*",), Served(1), "it includes both"),
    header(
        "Accept",
        "twice",
        ("application/json", "text/event-stream"),
        Served(1),
        "a list may be split (RFC 9110, 5.3)",
    ),
    header(
        "Accept",
        "oversized",
        (f"application/json, text/event-stream, {LONG}",),
        Served(1),
        "long, but valid",
    ),
    header("Accept", "over the limit", (f"application/json, text/event-stream, {HUGE}",), TOO_LONG, BOUNDED),
    header("Content-Type", "over the limit", (f"application/json; a={HUGE}",), TOO_LONG, BOUNDED),
    header("Accept", "of garbage", (",;=,q;;\xff",), refused(406), ACCEPT),
]

VERSION = "transports: an unsupported value gets 400"
UNDESCRIBED = "not a handshake revision, so the request must describe itself"
UNKNOWN_VERSION = Answer(Failed(INVALID_PARAMS, 1, "_meta needs"), 400)
GONE = Answer(Failed(INVALID_REQUEST, 1, "session not found"), 404)
LOST = "transports: 404 makes the client initialize again"
VERSION_NAME, SESSION_NAME = "MCP-Protocol-Version", "Mcp-Session-Id"
STATE = [
    header(VERSION_NAME, "missing", (), Served(1), "the session has a version"),
    header(VERSION_NAME, "missing, without a session", (), Served(1), "2025-03-26 is assumed", setting=ALONE),
    header(VERSION_NAME, "unknown", ("1999-01-01",), UNKNOWN_VERSION, UNDESCRIBED),
    header(VERSION_NAME, "empty", ("",), UNKNOWN_VERSION, UNDESCRIBED),
    header(VERSION_NAME, "with two dates", ("2025-06-18, 2025-11-25",), UNKNOWN_VERSION, UNDESCRIBED),
    header(VERSION_NAME, "outside ASCII", ("2025\xa011\xa025",), UNKNOWN_VERSION, UNDESCRIBED),
    header(VERSION_NAME, "twice", ("2025-11-25", "2025-11-25"), TWICE, DECIDES),
    header(VERSION_NAME, "oversized", (LONG,), UNKNOWN_VERSION, UNDESCRIBED),
    header(VERSION_NAME, "over the limit", (HUGE,), TOO_LONG, BOUNDED),
    header(
        VERSION_NAME,
        "unknown, on GET",
        ("1999-01-01",),
        refused(400, "unsupported"),
        VERSION,
        method="GET",
    ),
    header(SESSION_NAME, "missing", (), Served(1), "the request is served without a session"),
    header(SESSION_NAME, "unknown", ("no-such-session",), GONE, LOST),
    header(SESSION_NAME, "empty", ("",), GONE, LOST),
    header(SESSION_NAME, "outside ASCII", ("\xff\xfe",), GONE, LOST),
    header(SESSION_NAME, "twice", ("one", "two"), TWICE, DECIDES),
    header(SESSION_NAME, "oversized", (LONG,), GONE, LOST),
    header(SESSION_NAME, "over the limit", (HUGE,), TOO_LONG, BOUNDED),
    header(
        SESSION_NAME,
        "unknown, on a notification",
        ("no-such-session",),
        refused(404, "session not found"),
        LOST,
        sent=message(method="notifications/initialized"),
    ),
    header(
        SESSION_NAME,
        "unknown, on GET",
        ("no-such-session",),
        refused(404),
        LOST,
        method="GET",
    ),
    header(
        SESSION_NAME,
        "unknown, on DELETE",
        ("no-such-session",),
        refused(404),
        LOST,
        method="DELETE",
    ),
    header(
        SESSION_NAME,
        "missing, on GET",
        (),
        refused(405, header="allow"),
        "there is no stream without a session",
        method="GET",
    ),
    header(
        SESSION_NAME,
        "missing, on DELETE",
        (),
        refused(405, header="allow"),
        "there is no session to end",
        method="DELETE",
    ),
    header(
        SESSION_NAME,
        "missing, on GET",
        (),
        refused(400, "session required"),
        "transports: 400 where sessions are required",
        method="GET",
        setting=Setting.REQUIRED,
    ),
]

RESUME = "a gap would lose messages silently"


def resuming(case: str, values: tuple[str, ...], answer: Answer, because: str = RESUME) -> Row:
    return header("Last-Event-ID", case, values, answer, because, method="GET")


NO_EVENT = refused(400, "unknown Last-Event-ID")
RESUMPTION = [
    resuming("unknown", ("9-9",), NO_EVENT),
    resuming("of garbage", ("last tuesday",), NO_EVENT),
    resuming("empty", ("",), NO_EVENT),
    resuming("negative", ("0--1",), NO_EVENT),
    resuming("with digits outside ASCII", ("0-\xb2",), NO_EVENT),
    resuming("of 5,000 digits", ("0-" + "9" * 5000,), NO_EVENT),
    resuming("oversized", (LONG,), NO_EVENT),
    resuming("twice", ("0-0", "0-1"), TWICE, DECIDES),
    header(
        "Accept",
        "missing, on GET",
        (),
        refused(406, "text/event-stream"),
        "a GET is answered by a stream",
        method="GET",
    ),
]


def to(method: str, path: str, answer: Reply | Answer, because: str) -> Row:
    head = Head(method=method, path=path)
    target = f"{method} {shorten((path,))}"
    return on_http(
        f"`{target}`",
        PING if method == "POST" else b"",
        answer,
        because,
        head=head,
        display=target,
        setting=ALONE,
    )


NOT_OFFERED = refused(405, "method not allowed", header="allow")
NOWHERE = Answer(NOTHING, 404)
TARGETS = [
    to("PUT", "/mcp", NOT_OFFERED, "not part of the transport"),
    to("PATCH", "/mcp", NOT_OFFERED, "not part of the transport"),
    to("post", "/mcp", NO_HTTP, "methods are case-sensitive (RFC 9110, 9.1)"),
    to("BREW", "/mcp", NO_HTTP, "unknown method"),
    to("POST", "/", NOWHERE, "not the path of the endpoint"),
    to("POST", "/mcp/../mcp", NOWHERE, "paths are not normalised"),
    to("POST", "/mcp/", Served(1), "a trailing slash is accepted"),
    to("POST", "/mcp?session=1", Served(1), "the query is ignored"),
    to("POST", "/mcp?" + "q" * 10_000, Served(1), "the query is ignored"),
    to("POST", "mcp", NO_HTTP, "not a valid target (RFC 9112, 3.2)"),
    to("POST", "http://localhost/mcp", Served(1), "absolute form, as sent to proxies (RFC 9112, 3.2.2)"),
    to("POST", "http://evil.example/mcp", refused(421), "the target overrides the Host header"),
    to("POST", "ftp://localhost/mcp", refused(400, "target", after=After.CLOSED), "not an HTTP target"),
    to("OPTIONS", "*", NOWHERE, "not supported for the server as a whole"),
    to(
        "CONNECT",
        "localhost:443",
        refused(501, "not a proxy", after=After.CLOSED),
        "the server is not a proxy",
    ),
]

SECTIONS: dict[str, list[Row]] = {
    "Host and origin": HOSTS,
    "Content negotiation": NEGOTIATION,
    "Version and session": STATE,
    "Resumption": RESUMPTION,
    "Methods and paths": TARGETS,
}
