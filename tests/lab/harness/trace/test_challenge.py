"""Challenges are read in every spelling that RFC 9110 allows, and some that it does not."""

import pytest

from assay.lab.harness.links.http_text import Head
from assay.lab.harness.trace.challenge import Challenge, bearer_challenge, challenges

URL = "https://server.example/.well-known/oauth-protected-resource"


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
