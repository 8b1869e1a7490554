"""Requests for pages of other sites: refused, and for that reason."""

from assay.lab.harness.trace.trace import Trace
from tests.lab.everything.observing import broken, held, seen
from tests.lab.everything.talking import over_http

CHECK = "dns-rebinding-protection"
REJECTED, ACCEPTED = "localhost-host-rebinding-rejected", "localhost-host-valid-accepted"
ASKED = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'
RESULT = b'{"jsonrpc":"2.0","id":1,"result":{}}'
OWN = "POST /mcp HTTP/1.1\nHost: localhost:1\nOrigin: http://localhost:1"
EVIL = "POST /mcp HTTP/1.1\nHost: evil.example.com\nOrigin: http://evil.example.com"
JSON = "\nContent-Type: application/json"


def both(own: str, evil: str) -> Trace:
    return over_http(
        (OWN, ASKED, own + JSON, RESULT if own.startswith("2") else b""),
        (EVIL, ASKED, evil + JSON, RESULT if evil.startswith("2") else b""),
    )


def test_own_page_is_served_and_another_refused() -> None:
    assert held(CHECK, both("200 OK", "403 Forbidden")) == {REJECTED, ACCEPTED}
    assert held(CHECK, both("200 OK", "421 Misdirected Request")) == {REJECTED, ACCEPTED}


def test_another_page_that_is_served_is_found() -> None:
    assert broken(CHECK, both("200 OK", "200 OK")) == {REJECTED}


def test_breaking_down_is_no_refusal() -> None:
    assert broken(CHECK, both("200 OK", "500 Oh")) == {REJECTED}


def test_server_that_refuses_everybody_proves_nothing_by_refusing_strangers() -> None:
    assert seen(CHECK, both("403 Forbidden", "403 Forbidden")) == [(ACCEPTED, False)]
