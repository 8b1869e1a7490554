"""The settings of a protected server, and the mistakes in them that are reported at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.auth import Auth, DPoP, Introspection
from assay.auth.address import canonical, target
from assay.auth.challenge import challenge
from tests.auth.issuer import RESOURCE, ec_key, private_jwk, public_jwk

KEYS = {"keys": [public_jwk(ec_key(), kid="ec")]}
USUAL: dict[str, Any] = {"issuer": "https://as.example", "audience": RESOURCE, "jwks": KEYS}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"issuer": "as.example"}, "issuer must be an http or https URL"),
        ({"issuer": "http://as.example[::1]"}, "issuer must be an http or https URL"),
        ({"issuer": "http://[::1]as.example"}, "issuer must be an http or https URL"),
        ({"issuer": "http://as.example"}, "issuer must be https"),
        ({"issuer": "https://as.example?x=1"}, "without query"),
        ({"issuer": "https://as.example#x"}, "without query and fragment"),
        ({"issuer": "https://ann@as.example"}, "issuer must be"),
        ({"issuer": 'https://as.example/"'}, "issuer must be"),
        ({"audience": ""}, "audience must be given"),
        ({"audience": []}, "audience must be given"),
        ({"audience": "my-api"}, "resource"),
        ({"resource": "mcp"}, "resource"),
        ({"jwks": "http://as.example/jwks"}, "jwks must be https"),
        ({"jwks": "/no/such/file"}, "cannot be read"),
        ({"jwks": Path(__file__)}, "is not a key set"),
        pytest.param({"jwks": {"keys": [private_jwk(ec_key())]}}, "no key", id="private key"),
        ({"scopes": "use"}, "must be a list"),
        ({"scopes": ["a b"]}, "not a scope"),
        ({"scopes": ['a"']}, "not a scope"),
        ({"scopes": ["offline_access"]}, "offline_access"),
        ({"scopes_supported": ["offline_access"]}, "offline_access"),
        ({"algorithms": ["HS256"]}, "algorithms"),
        ({"algorithms": ["none"]}, "algorithms"),
        ({"algorithms": []}, "algorithms"),
        (
            {"introspection": Introspection(url="http://as.example/i", client_id="a", client_secret="b")},
            "introspection must be https",
        ),
    ],
    ids=str,
)
def test_a_mistake_is_reported_at_once(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Auth(**{**USUAL, **change})


def test_another_machine_without_tls_is_trusted_only_on_demand() -> None:
    assert Auth(**{**USUAL, "issuer": "http://as.example", "allow_http": True}).issuer == "http://as.example"


def test_secrets_are_not_shown() -> None:
    introspection = Introspection(url="https://as.example/i", client_id="me", client_secret="hush")
    auth = Auth(**USUAL, introspection=introspection, dpop=DPoP(nonce=True, nonce_key=b"quiet"))
    assert "hush" not in repr(auth)
    assert "quiet" not in repr(auth)


def test_the_metadata_tells_where_to_get_tokens() -> None:
    auth = Auth(**USUAL, scopes=["read"], name="Notes", dpop=DPoP(required=True))
    metadata = auth.metadata()
    assert metadata.pop("dpop_signing_alg_values_supported")
    assert metadata == {
        "resource": RESOURCE,
        "authorization_servers": ["https://as.example"],
        "scopes_supported": ["read"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Notes",
        "dpop_bound_access_tokens_required": True,
    }


def test_the_first_audience_is_the_resource_unless_another_is_named() -> None:
    two = {**USUAL, "audience": ["https://a.example/mcp", "my-api"]}
    assert Auth(**two).metadata()["resource"] == "https://a.example/mcp"
    assert Auth(**two, resource="https://b.example").metadata()["resource"] == "https://b.example"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("https://A.example/mcp", "HTTPS://a.EXAMPLE:443/mcp"),
        ("http://a.example", "http://a.example:80/"),
        ("http://[::1]:80/mcp", "http://[::1]/mcp"),
        ("https://a.example/%7Eann", "https://a.example/~ann"),
        ("https://a.example/%2f", "https://a.example/%2F"),
    ],
)
def test_spellings_of_one_address(left: str, right: str) -> None:
    assert canonical(left) == canonical(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("https://a.example/mcp", "https://a.example/mcp/"),
        ("https://a.example/mcp", "https://a.example/MCP"),
        ("https://a.example/mcp", "http://a.example/mcp"),
        ("https://a.example/a/b", "https://a.example/a%2Fb"),
        ("https://a.example", "https://a.example:8443"),
        ("https://a.example/", "https://x@a.example/"),
        ("https://a.example/", "https://a.example./"),
        ("https://a.example/mcp", " https://a.example/mcp"),
        ("https://a.example/mcp", "https://a.example/m\tcp"),
        ("https://a.example/mcp", "https://a.example/mcp\n"),
        ("my-api", "My-API"),
    ],
)
def test_different_addresses(left: str, right: str) -> None:
    assert canonical(left) != canonical(right)


def test_what_a_request_is_sent_to_has_no_query_and_is_http() -> None:
    assert target("WSS://a.example/mcp?x=1#y") == target("https://a.example/mcp") == "https://a.example/mcp"


def test_nothing_breaks_out_of_a_challenge() -> None:
    header = challenge("https://a.example/\r\nX: 1", scopes=['a"b', "c\\d"], error="e", reason='"\r\n\x00ü')
    assert b"\r" not in header
    assert b"\n" not in header
    assert header.count(b'"') == 8
    assert b"\\" not in header
    header.decode("ascii")
