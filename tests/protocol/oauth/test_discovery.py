"""Where metadata are looked for, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from assay.model.client_error import AuthorizationFailed
from assay.protocol.oauth.address import covers, server_url
from assay.protocol.oauth.authorization_server import AuthorizationServer, find_server
from assay.protocol.oauth.challenge import Challenge
from assay.protocol.oauth.network import Zone, allowed_from, zone_of, zone_of_all
from assay.protocol.oauth.protected_resource import ProtectedResource, find_resource
from tests.protocol.oauth.driving import Answers

URL = "https://mcp.example/team/mcp"
ROOT = "https://mcp.example/.well-known/oauth-protected-resource"
ISSUER = "https://as.example"
OAUTH, OIDC = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
DOCUMENT = {"resource": URL, "authorization_servers": [ISSUER]}
RESOURCE = ProtectedResource(URL, (ISSUER,))


def test_the_metadata_that_the_challenge_names_are_read_first() -> None:
    named = "https://other.example/resource.json"
    answers = Answers({named: DOCUMENT})
    resource = answers.run(find_resource(URL, Challenge(resource_metadata=named), None))
    assert resource.issuers == (ISSUER,)
    assert answers.urls == [named]


def test_well_known_metadata_are_tried_with_the_path_then_at_the_root() -> None:
    answers = Answers({ROOT: DOCUMENT})
    assert answers.run(find_resource(URL, Challenge(), None)).issuers == (ISSUER,)
    assert answers.urls == [f"{ROOT}/team/mcp", ROOT]


def test_the_version_is_sent_with_requests_for_metadata() -> None:
    answers = Answers({ROOT: DOCUMENT})
    answers.run(find_resource(URL, Challenge(), "some-version"))
    assert {request.headers["MCP-Protocol-Version"] for request in answers.requests} == {"some-version"}


@pytest.mark.parametrize(
    ("issuer", "places"),
    [
        (ISSUER, [f"{ISSUER}{OAUTH}", f"{ISSUER}{OIDC}"]),
        (f"{ISSUER}/", [f"{ISSUER}{OAUTH}", f"{ISSUER}{OIDC}"]),
        (
            f"{ISSUER}/tenant/1",
            [f"{ISSUER}{OAUTH}/tenant/1", f"{ISSUER}{OIDC}/tenant/1", f"{ISSUER}/tenant/1{OIDC}"],
        ),
    ],
)
def test_an_issuer_is_looked_up_by_insertion_then_by_appending(issuer: str, places: list[str]) -> None:
    answers = Answers({places[-1]: {"issuer": issuer}})
    assert answers.run(find_server(ProtectedResource(URL, (issuer,)), issuer, None)).issuer == issuer
    assert answers.urls == places


def test_a_server_without_any_metadata_has_the_default_endpoints() -> None:
    answers = Answers({})
    resource = answers.run(find_resource(URL, Challenge(), None))
    server = answers.run(find_server(resource, resource.issuers[0], None))
    assert (server.issuer, server.token_endpoint) == ("https://mcp.example", "https://mcp.example/token")


def test_a_named_issuer_without_metadata_is_an_error() -> None:
    with pytest.raises(AuthorizationFailed, match="publishes no metadata"):
        Answers({}).run(find_server(RESOURCE, ISSUER, None))


@pytest.mark.parametrize("status", [500, 503])
def test_a_server_that_is_out_of_order_is_not_one_without_metadata(status: int) -> None:
    with pytest.raises(AuthorizationFailed, match="try again later"):
        Answers({f"{ROOT}/team/mcp": status}).run(find_resource(URL, Challenge(), None))


@pytest.mark.parametrize(
    ("document", "issuer"),
    [
        ({"issuer": f"{ISSUER}/"}, ISSUER),
        ({"issuer": ISSUER}, f"{ISSUER}/"),
        ({"issuer": ISSUER.upper()}, ISSUER),
        ({"issuer": "https://evil.example"}, ISSUER),
    ],
)
def test_issuers_are_compared_as_text(document: dict[str, Any], issuer: str) -> None:
    answers = Answers({f"{ISSUER}{OAUTH}": document})
    with pytest.raises(AuthorizationFailed, match="another issuer"):
        answers.run(find_server(ProtectedResource(URL, (issuer,)), issuer, None))


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "registration_endpoint"])
def test_an_endpoint_must_be_safe(name: str) -> None:
    unsafe: dict[str, Any] = {name: "http://as.example/x"}
    server = AuthorizationServer(ISSUER, **unsafe)
    with pytest.raises(AuthorizationFailed, match="must be https"):
        server.endpoint(name)


@pytest.mark.parametrize(
    ("resource", "url", "expected"),
    [
        ("https://a.example/mcp", "https://a.example/mcp", True),
        ("https://a.example", "https://a.example/mcp", True),
        ("https://a.example/", "https://a.example/mcp", True),
        ("HTTPS://A.example/mcp", "https://a.example/mcp", True),
        ("https://a.example:443/mcp", "https://a.example/mcp", True),
        ("https://a.example/mcp/", "https://a.example/mcp", True),
        ("https://a.example/mc", "https://a.example/mcp", False),
        ("https://a.example/mcp/x", "https://a.example/mcp", False),
        ("https://a.example/MCP", "https://a.example/mcp", False),
        ("http://a.example/mcp", "https://a.example/mcp", False),
        ("https://a.example:444/mcp", "https://a.example/mcp", False),
        ("https://b.example/mcp", "https://a.example/mcp", False),
        ("https://a.example@b.example/mcp", "https://a.example/mcp", False),
        ("https://a.example/mcp#x", "https://a.example/mcp", False),
        ("https://a.example/mcp?tenant=1", "https://a.example/mcp?tenant=1", True),
        ("https://a.example/mcp?tenant=1", "https://a.example/mcp?tenant=2", False),
        ("https://a.example/mcp", "https://a.example/mcp?tenant=2", True),
        ("urn:mcp", "https://a.example/mcp", False),
    ],
)
def test_a_resource_contains_a_server_or_not(resource: str, url: str, expected: bool) -> None:
    assert covers(resource, url) is expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("wss://a.example/mcp", "https://a.example/mcp"),
        ("ws://localhost:1/mcp", "http://localhost:1/mcp"),
        ("https://a.example/", "https://a.example"),
        ("https://a.example/mcp/", "https://a.example/mcp/"),
        ("https://a.example/mcp#x", "https://a.example/mcp"),
    ],
)
def test_a_server_is_named_without_fragment_and_needless_slash(url: str, expected: str) -> None:
    assert server_url(url) == expected


@pytest.mark.parametrize(
    ("address", "zone"),
    [
        ("93.184.215.14", Zone.PUBLIC),
        ("2606:2800:220:1::1", Zone.PUBLIC),
        ("10.1.2.3", Zone.PRIVATE),
        ("172.16.0.1", Zone.PRIVATE),
        ("192.168.0.1", Zone.PRIVATE),
        ("100.64.0.1", Zone.PRIVATE),
        ("fd00::1", Zone.PRIVATE),
        ("::ffff:192.168.0.1", Zone.PRIVATE),
        ("127.8.8.8", Zone.LOOPBACK),
        ("::1", Zone.LOOPBACK),
        ("::ffff:127.0.0.1", Zone.LOOPBACK),
        ("169.254.169.254", Zone.SPECIAL),
        ("", Zone.SPECIAL),
        ("no address", Zone.SPECIAL),
        ("fe80::1%eth0", Zone.SPECIAL),
        ("0.0.0.0", Zone.SPECIAL),
        ("::", Zone.SPECIAL),
        ("224.0.0.1", Zone.SPECIAL),
        ("255.255.255.255", Zone.SPECIAL),
        ("64:ff9b::a00:1", Zone.SPECIAL),
        ("2002:a00:1::", Zone.SPECIAL),
    ],
)
def test_an_address_is_in_a_zone(address: str, zone: Zone) -> None:
    assert zone_of(address) is zone


def test_a_host_is_in_the_least_public_zone_of_its_addresses() -> None:
    assert zone_of_all(["93.184.215.14", "10.0.0.1"]) is Zone.PRIVATE


def test_a_server_may_lead_only_where_all_its_addresses_allow() -> None:
    assert allowed_from(["10.0.0.5"]) == {Zone.PUBLIC, Zone.PRIVATE}
    assert allowed_from(["10.0.0.5", "93.184.215.14"]) == {Zone.PUBLIC}
    assert allowed_from([""]) == {Zone.PUBLIC}
    assert allowed_from([]) == frozenset()
