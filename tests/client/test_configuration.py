"""Configurations with `mcpServers`: what is read from them, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay import Client, OAuth, SyncClient
from assay.client.configuration import expand, read_configuration
from tests.client.auth.world import protected
from tests.client.everything import TRANSPORTS, python

ENVIRON = {"TOKEN": "s3cret", "EMPTY": "", "TRICK": "${TOKEN}"}


def read(settings: dict[str, Any], **others: Any) -> Any:
    servers = {"mcpServers": {"weather": settings, **others}}
    return read_configuration(servers, ENVIRON)["weather"]


def test_a_process_has_command_arguments_variables_and_a_directory() -> None:
    entry = read(
        {
            "command": "uvx",
            "args": ["weather", "--key=${TOKEN}"],
            "env": {"KEY": "${env:TOKEN}"},
            "cwd": "/srv",
        }
    )
    stdio = entry.target
    assert stdio.command == ("uvx", "weather", "--key=s3cret")
    assert (stdio.env, stdio.cwd, stdio.inherit_env) == ({"KEY": "s3cret"}, "/srv", False)


def test_a_url_has_an_authorization() -> None:
    assert read({"url": "https://example.com/mcp", "auth": "oauth"}).auth == "oauth"
    assert read({"url": "https://example.com/mcp", "auth": "${TOKEN}"}).auth == "s3cret"
    for auth in ("", 7, {"type": "oauth"}):
        with pytest.raises(ValueError, match='auth must be "oauth" or a token'):
            read({"url": "https://example.com/mcp", "auth": auth})
    with pytest.raises(ValueError, match="auth is not for servers with command"):
        read({"command": "x", "auth": "oauth"})


async def test_the_authorization_of_a_configuration_is_used() -> None:
    async with protected() as world:
        async with Client(world.url, auth=OAuth(headless=True)) as client:
            await client.tools()
        token = world.last_token.removeprefix("Bearer ")
        entry = {"url": world.url, "auth": token}
        async with Client({"mcpServers": {"first": entry}}) as client:
            assert "hello" in (await client.call("greet")).text
        async with Client({"mcpServers": {"first": entry, "second": entry}}) as client:
            assert "hello" in (await client.call("second_greet")).text


@pytest.mark.parametrize("kind", [{}, {"type": "http"}, {"transport": "streamable-http"}, {"type": "sse"}])
def test_a_url_has_headers(kind: dict[str, str]) -> None:
    settings = {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}, **kind}
    entry = read(settings)
    assert entry.target == "https://example.com/mcp"
    assert entry.headers == {"Authorization": "Bearer s3cret"}


def test_settings_of_applications_are_accepted_and_disabled_servers_are_left_out() -> None:
    settings = {"command": "x", "alwaysAllow": ["a"], "autoApprove": [], "disabled": False, "type": "stdio"}
    off = {"command": "y", "disabled": True, "unknown": 1}
    assert list(read_configuration({"mcpServers": {"on": settings, "off": off}})) == ["on"]


def test_the_form_of_vs_code_is_read() -> None:
    configuration = {"inputs": [], "servers": {"a": {"type": "stdio", "command": "x"}}}
    assert list(read_configuration(configuration)) == ["a"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${TOKEN}", "s3cret"),
        ("a${TOKEN}b${env:TOKEN}", "as3cretbs3cret"),
        ("${NONE:-other}", "other"),
        ("${EMPTY:-other}", "other"),
        ("${EMPTY}", ""),
        ("${NONE:-}", ""),
        ("${TRICK}", "${TOKEN}"),
        ("$TOKEN {} $$", "$TOKEN {} $$"),
    ],
)
def test_variables_are_expanded(text: str, value: str) -> None:
    assert expand(text, ENVIRON.get) == value


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({}, "write either command, for a process, or url"),
        ({"comand": "x"}, "unknown key 'comand': known are args, auth, command"),
        ({"command": "x", "url": "https://a"}, "write either command"),
        ({"command": "x", "argz": []}, "unknown key 'argz': known are args, command, cwd, env, type"),
        ({"command": "x", "timeout": 5}, "unknown key 'timeout': pass timeout= to Client"),
        ({"command": "x", "envFile": ".env"}, "write the variables into env"),
        ({"command": "x", "headers": {}}, "headers is not for servers with command"),
        ({"url": "https://a", "args": []}, "args is not for servers with url"),
        ({"command": "x", "type": "http"}, "type 'http' needs url"),
        ({"url": "https://a", "type": "stdio"}, "unknown type 'stdio'|needs command"),
        ({"url": "https://a", "type": "ws"}, "url must begin with ws:// or wss://"),
        ({"url": "ftp://a"}, "url must begin with http"),
        ({"command": "x", "args": "--flag"}, "args must be a list of texts"),
        ({"command": "x", "args": [1]}, "args must be a text, not int"),
        ({"command": "x", "env": {"A": 1}}, "env.A must be a text, not int"),
        (
            {"command": "x", "env": {"A": "${NONE}"}},
            r"env.A: the variable NONE is not set: .*\$\{NONE:-default\}",
        ),
        ({"command": "x", "args": ["${input:key}"]}, r"args: \$\{input:key\} is not known here"),
        ({"command": "${TOKEN"}, "has no '}'"),
        ("x", "must be an object"),
    ],
)
def test_mistakes_name_the_server_the_key_and_the_fix(settings: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=rf"server 'weather': .*(?:{reason})"):
        read(settings)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({}, 'has no servers: write {"mcpServers"'),
        ({"mcpServers": []}, "has no servers"),
        ({"mcpServers": {}}, "no server that is not disabled"),
        ({"mcpServers": {str(n): {"command": "x"} for n in range(101)}}, "more than 100 servers"),
        ({"mcpServers": {"a\x1b": {"command": "x"}}}, "cannot be printed"),
    ],
)
def test_configurations_without_usable_servers_are_refused(document: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Client(document)


def test_files_are_refused_with_their_name(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    with pytest.raises(FileNotFoundError):
        Client(str(path))
    for text, reason in (
        ("{", "not valid JSON"),
        ("[]", "not a JSON object"),
        (" " * 1_100_000, "more than"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=rf"mcp\.json.*{reason}"):
            Client(path)


async def test_one_server_has_its_names_as_they_are(tmp_path: Path) -> None:
    async with TRANSPORTS["http"]() as url:
        configuration = {"mcpServers": {"everything": {"url": url}}}
        path = tmp_path / "mcp.json"
        path.write_text(json.dumps(configuration))
        for target in (configuration, path, str(path)):
            async with Client(target) as client:
                assert "test_simple_text" in {tool.name for tool in await client.tools()}
                assert dict(client.servers) == {}


def test_one_process_of_a_configuration_is_started() -> None:
    stdio = python("-c", "from assay.bundled.everything import server; server.run()")
    program, *arguments = stdio.command
    # What `make` adds to the environment has `${…}` in it, which a configuration would expand.
    env = {name: value for name, value in (stdio.env or {}).items() if "$" not in value}
    settings = {"command": program, "args": arguments, "env": env, "cwd": stdio.cwd}
    with SyncClient({"mcpServers": {"everything": settings}}) as client:
        assert client.call("test_simple_text").text
