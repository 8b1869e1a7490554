"""`assay serve --tls-cert …`: it speaks TLS, and says which file it cannot use."""

from __future__ import annotations

import http.client
import json
import re
import signal
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.cli.exit_code import ExitCode
from assay.cli.main import main
from tests.driving.certificates import Authority, Pair
from tests.driving.messages import request
from tests.driving.warm_python import warm_python

BOTH = "application/json, text/event-stream"


@contextmanager
def serving(*options: str) -> Iterator[str]:
    """The server as a process; what it announces."""
    command = [warm_python(), "-m", "assay", "serve", "everything", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield process.stdout.readline().partition("endpoint: ")[2].strip()
        finally:
            process.send_signal(signal.SIGTERM)


def status_of_ping(url: str, context: ssl.SSLContext) -> int:
    port = int(url.split(":")[2].partition("/")[0])
    connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=10)
    try:
        headers = {"accept": BOTH, "content-type": "application/json"}
        connection.request("POST", "/mcp", json.dumps(request("ping")), headers)
        return connection.getresponse().status
    finally:
        connection.close()


def options_of(authority: Authority, server: Pair) -> list[str]:
    return [
        *("--tls-cert", str(server.cert), "--tls-key", str(server.key)),
        *("--tls-client-ca", str(authority.file)),
    ]


def test_only_who_shows_a_certificate_is_served(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    options = options_of(authority, authority.issue("server"))
    with serving("--transport", "http", *options) as url:
        assert re.fullmatch(r"https://localhost:\d+/mcp", url)
        with pytest.raises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)):
            status_of_ping(url, authority.client_context())
        assert status_of_ping(url, authority.client_context(authority.issue("ann"))) == 200


def test_a_websocket_is_announced_as_wss(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    with serving("--transport", "ws", *options_of(authority, authority.issue("server"))) as url:
        assert re.fullmatch(r"wss://localhost:\d+/mcp/ws", url)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--tls-cert", "none.pem"], "certificate none.pem: No such file or directory"),
        (["--tls-key", "none.key"], "a key or a client authority needs a server certificate"),
    ],
)
def test_what_cannot_be_used_gets_a_line_and_a_hint(
    options: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["serve", "everything", "--transport", "http", "--port", "0", *options]
    assert main(command) == ExitCode.USAGE
    line, hint = capsys.readouterr().err.splitlines()
    assert problem in line
    assert "PEM" in hint


@pytest.mark.parametrize("option", ["--tls-cert", "--tls-key", "--tls-client-ca"])
def test_stdio_has_no_use_for_tls(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "everything", option, "some.pem"]) == ExitCode.USAGE
    assert f"{option} has no effect on stdio" in capsys.readouterr().err
