"""Authorization in a trace: challenges in any spelling, and the metadata that describes the endpoint."""

import json

import pytest

from assay.lab.harness.links.http_text import Head
from assay.lab.harness.trace.authorization import (
    Challenge,
    bearer_challenge,
    candidate_paths,
    challenges,
    describes_endpoint,
    documents,
)
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Trace
from tests.lab.traces import http_trace

URL = "https://server.example/.well-known/oauth-protected-resource"
WELL_KNOWN = "/.well-known/oauth-protected-resource"


def head(*values: str) -> Head:
    return Head(("HTTP/1.1", "401", "Unauthorized"), tuple(("WWW-Authenticate", value) for value in values))


@pytest.mark.parametrize(
    ("value", "params"),
    [
        ("Bearer", {}),
        ("bearer", {}),
        (f'Bearer resource_metadata="{URL}"', {"resource_metadata": URL}),
        (
            f'Bearer error="invalid_token", resource_metadata="{URL}"',
            {"error": "invalid_token", "resource_metadata": URL},
        ),
        ("Bearer error=invalid_token,scope=read", {"error": "invalid_token", "scope": "read"}),
        ('Bearer Scope = "read write"', {"scope": "read write"}),
        (r'Bearer realm="a \"quoted\" word", scope="read"', {"realm": 'a "quoted" word', "scope": "read"}),
        ('Bearer scope=""', {"scope": ""}),
        ('Basic realm="x", Bearer scope="read"', {"scope": "read"}),
        ('Bearer scope="read", DPoP algs="ES256"', {"scope": "read"}),
    ],
)
def test_bearer_challenge_is_read(value: str, params: dict[str, str]) -> None:
    assert bearer_challenge(head(value)) == Challenge("bearer", params)


@pytest.mark.parametrize("value", ["", 'Basic realm="x"', ", ,", '"', 'scope="read"', "=", "\x00\xff"])
def test_header_without_a_bearer_challenge_yields_none(value: str) -> None:
    assert bearer_challenge(head(value)) is None


def test_all_headers_are_read() -> None:
    assert [challenge.scheme for challenge in challenges(head("DPoP", "Bearer"))] == ["dpop", "bearer"]
    assert challenges(None) == []


@pytest.mark.parametrize(
    ("url", "first"),
    [
        ("https://server.example/elsewhere", "/elsewhere"),
        ("https://SERVER.example/elsewhere", "/elsewhere"),
        ("https://attacker.example/elsewhere", f"{WELL_KNOWN}/mcp"),
        ("http://[broken", f"{WELL_KNOWN}/mcp"),
        (None, f"{WELL_KNOWN}/mcp"),
    ],
)
def test_only_the_server_itself_is_asked(url: str | None, first: str) -> None:
    paths = candidate_paths("/mcp?key=1", "server.example", url)
    assert paths[0] == first
    assert paths[-2:] == [f"{WELL_KNOWN}/mcp", WELL_KNOWN]


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
def test_metadata_describes_the_endpoint_or_its_whole_server(host: str, resource: object, own: bool) -> None:
    recorded = trace(host, "/mcp", {"resource": resource})
    (document,) = documents(recorded)
    assert describes_endpoint(document, recorded) is own


@pytest.mark.parametrize("content", [[], "text", None, 1])
def test_body_other_than_an_object_has_no_content(content: object) -> None:
    (document,) = documents(trace("server.example", "/mcp", content))
    assert document.content == {}


def test_metadata_is_not_read_as_a_message() -> None:
    assert trace("server.example", "/mcp", {"resource": "https://server.example/mcp"}).received == ()
