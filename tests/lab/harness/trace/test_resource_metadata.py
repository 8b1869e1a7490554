"""Where the metadata of a resource is looked for, and whether it is about the server."""

import json

import pytest

from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.resource_metadata import documents, is_of, places
from assay.lab.harness.trace.trace import Trace
from tests.lab.traces import http_trace

WELL_KNOWN = "/.well-known/oauth-protected-resource"


@pytest.mark.parametrize(
    ("told", "first"),
    [
        ("https://server.example/elsewhere", "/elsewhere"),
        ("https://SERVER.example/elsewhere", "/elsewhere"),
        ("https://attacker.example/elsewhere", f"{WELL_KNOWN}/mcp"),
        ("http://[broken", f"{WELL_KNOWN}/mcp"),
        (None, f"{WELL_KNOWN}/mcp"),
    ],
)
def test_only_the_server_itself_is_asked(told: str | None, first: str) -> None:
    found = places("/mcp?key=1", "server.example", told)
    assert found[0] == first
    assert found[-2:] == [f"{WELL_KNOWN}/mcp", WELL_KNOWN]


def trace(host: str, target: str, content: object) -> Trace:
    return http_trace(
        [
            (">", "1/post-1", Kind.REQUEST, f"POST {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()),
            (">", "1/get-2", Kind.REQUEST, f"GET {WELL_KNOWN} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()),
            ("<", "1/get-2", Kind.HEAD, b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"),
            ("<", "1/get-2", Kind.BODY, json.dumps(content).encode()),
        ]
    )


@pytest.mark.parametrize(
    ("host", "resource", "own"),
    [
        ("server.example", "https://server.example/mcp", True),
        ("server.example", "https://server.example", True),
        ("server.example", "https://server.example/mcp/", True),
        ("server.example", "https://server.example/mc", False),
        ("server.example", "https://server.example/other", False),
        ("server.example", "https://other.example/mcp", False),
        ("server.example", "http://[", False),
        ("server.example", 4, False),
        ("127.0.0.1:4711", "http://localhost/mcp", True),
    ],
)
def test_metadata_is_about_the_endpoint_or_all_of_its_server(host: str, resource: object, own: bool) -> None:
    found = trace(host, "/mcp", {"resource": resource})
    (document,) = documents(found)
    assert is_of(document, found) is own


@pytest.mark.parametrize("content", [[], "text", None, 1])
def test_what_is_no_object_has_no_content(content: object) -> None:
    (document,) = documents(trace("server.example", "/mcp", content))
    assert document.content == {}


def test_metadata_is_not_taken_for_a_message() -> None:
    assert trace("server.example", "/mcp", {"resource": "https://server.example/mcp"}).received == ()
