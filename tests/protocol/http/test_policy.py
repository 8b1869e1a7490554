"""Which hosts and origins a policy allows."""

from __future__ import annotations

import pytest

from assay.protocol.http.policy import HttpPolicy, hostname


@pytest.mark.parametrize(
    ("allowed", "host", "admitted"),
    [
        (None, "localhost", True),
        (None, "localhost:3000", True),
        (None, "LOCALHOST:3000", True),
        (None, "127.0.0.1:8000", True),
        (None, "[::1]", True),
        (None, "[::1]:8000", True),
        (None, "::1", False),
        (None, "", False),
        (None, "evil.example", False),
        (None, "localhost.evil.example", False),
        (None, "evil.example:localhost", False),
        (None, "127.0.0.1.evil.example", False),
        (("api.example",), "api.example", True),
        (("api.example",), "api.example:443", True),
        (("api.example",), "localhost", False),
        (("API.Example",), "api.example", True),
        (("api.example:8443",), "api.example:8443", True),
        (("api.example:8443",), "api.example", False),
        (("api.example:8443",), "api.example:80", False),
        (("*",), "anything.example", True),
        (("*",), "", True),
    ],
)
def test_host(allowed: tuple[str, ...] | None, host: str, admitted: bool) -> None:
    policy = HttpPolicy() if allowed is None else HttpPolicy(allowed_hosts=allowed)
    assert policy.admits_host(host) is admitted


@pytest.mark.parametrize(
    ("policy", "origin", "admitted"),
    [
        (HttpPolicy(), "http://localhost:5173", True),
        (HttpPolicy(), "https://LOCALHOST", True),
        (HttpPolicy(), "http://[::1]:8000", True),
        (HttpPolicy(), "http://evil.example", False),
        (HttpPolicy(), "http://localhost.evil.example", False),
        (HttpPolicy(), "null", False),
        (HttpPolicy(), "", False),
        (HttpPolicy(), "localhost", False),
        (HttpPolicy(), "file://localhost", False),
        (HttpPolicy(allowed_hosts=("*",)), "http://evil.example", False),
        (HttpPolicy(allowed_hosts=("*", "api.example")), "https://api.example", True),
        (HttpPolicy(allowed_origins=("https://app.example",)), "https://app.example", True),
        (HttpPolicy(allowed_origins=("https://app.example",)), "http://app.example", False),
        (HttpPolicy(allowed_origins=("https://app.example",)), "https://app.example:8443", False),
        (HttpPolicy(allowed_origins=("null",)), "null", True),
        (HttpPolicy(allowed_origins=("*",)), "http://evil.example", True),
    ],
)
def test_origin(policy: HttpPolicy, origin: str, admitted: bool) -> None:
    assert policy.admits_origin(origin) is admitted


@pytest.mark.parametrize(
    ("authority", "host"),
    [
        ("a.example:1", "a.example"),
        ("a.example", "a.example"),
        ("[::1]:1", "[::1]"),
        ("[::1]", "[::1]"),
        ("", ""),
    ],
)
def test_hostname_is_the_authority_without_its_port(authority: str, host: str) -> None:
    assert hostname(authority) == host
