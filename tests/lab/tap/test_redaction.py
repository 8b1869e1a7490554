"""Secrets of live traffic: found where they are declared, and removed everywhere."""

from __future__ import annotations

import base64

import pytest

from assay.lab.tap.redaction import LiveRedaction, secrets_of, words_without_secrets

SECRET = b"s3cr3t-value-0123456789"
PLACES = {
    "bearer": b"POST /mcp HTTP/1.1\r\nAuthorization: Bearer %b\r\n\r\n{}",
    "odd case": b"POST /mcp HTTP/1.1\r\nAUTHORIZATION:\tbearer  %b\r\n\r\n{}",
    "basic": b"POST /mcp HTTP/1.1\r\nAuthorization: Basic %b\r\n\r\n{}",
    "key": b"POST /mcp HTTP/1.1\r\nX-Api-Key: %b\r\n\r\n{}",
    "cookie": b"POST /mcp HTTP/1.1\r\nCookie: a=1; session=%b\r\n\r\n{}",
    "query": b"GET /mcp?x=1&api_key=%b&y=2 HTTP/1.1\r\nHost: x\r\n\r\n",
    "code in location": b"HTTP/1.1 302 Found\r\nLocation: http://localhost/cb?code=%b&state=x\r\n\r\n",
    "form": (
        b"POST /token HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\nclient_secret=%b&a=b"
    ),
}
BODIES = {
    "token": b'{"access_token": "%b", "expires_in": 5}',
    "argument": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"password":"%b"}}}',
    "camel case": b'{"apiKey":"%b"}',
    "text that is JSON": b'{"text":"{\\"client_secret\\":\\"%b\\"}"}',
    "pretty": b'{\n  "Refresh_Token" :\n "%b"\n}',
}


@pytest.mark.parametrize("name", PLACES)
def test_a_declared_secret_leaves_a_head_and_what_follows(name: str) -> None:
    redaction = LiveRedaction()

    assert SECRET not in redaction.head(PLACES[name] % SECRET)
    if name != "cookie":  # its value is removed where it is, and is seldom repeated
        assert SECRET not in redaction.text(b'{"echo":"%b"}' % SECRET)
        assert base64.b64encode(SECRET) not in redaction.text(base64.b64encode(SECRET))


@pytest.mark.parametrize("name", BODIES)
def test_a_declared_secret_leaves_a_body_and_what_follows(name: str) -> None:
    redaction = LiveRedaction()

    assert SECRET not in redaction.text(BODIES[name] % SECRET)
    assert SECRET not in redaction.text(b"later " + SECRET)


def test_what_only_looks_like_a_secret_stays() -> None:
    redaction = LiveRedaction()
    schema = b'{"properties":{"password":{"type":"string"}}}'
    body = b'{"_meta":{"progressToken":"abcdefghijk"},"inputSchema":%b}' % schema

    assert redaction.text(body) == body


def test_a_head_is_read_again_after_a_secret_became_known() -> None:
    redaction = LiveRedaction()
    head = b"GET /%b HTTP/1.1\r\nHost: x\r\n\r\n" % SECRET
    redaction.head(head)
    redaction.text(b'{"secret":"%b"}' % SECRET)

    assert SECRET not in redaction.head(head)


def test_secrets_of_the_environment_and_the_command_line() -> None:
    environment = {"GITHUB_TOKEN": "ghp_0123456789", "HOME": "/home/me", "NAMED": "a value of mine"}

    assert secrets_of(environment, ["NAMED"]) == ["ghp_0123456789", "a value of mine"]
    words = ["npx", "server", "--api-key", "abc", "--token=def", "--flag"]
    clean = words_without_secrets(words, LiveRedaction())
    assert clean == ["npx", "server", "--api-key", "[redacted]", "--token=[redacted]", "--flag"]
