"""Mistakes in `run` and `asgi`: what each says, and how the process ends."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from assay import Server


@pytest.mark.parametrize(
    ("transport", "hint"),
    [
        ("streamable-http", 'Streamable HTTP is "http" here'),
        ("streamable_http", 'Streamable HTTP is "http" here'),
        ("sse", 'use "http"'),
        ("websocket", 'it is "ws" here'),
        ("pigeon", "one of stdio, http, http-plain, ws"),
    ],
)
def test_a_transport_by_another_name_is_answered_with_ours(transport: Any, hint: str) -> None:
    with pytest.raises(ValueError, match=f"unknown transport: '{transport}'; .*{hint}"):
        Server("s").run(transport)


@pytest.mark.parametrize("transport", ["http", "http-plain", "ws"])
@pytest.mark.parametrize(
    ("option", "fix"),
    [
        ("prot", "did you mean port?"),
        ("allowed_host", "did you mean allowed_hosts?"),
        ("tls_certificate", "did you mean tls_c"),
        ("zzz", "one of path, stream"),
    ],
)
def test_a_misspelt_option_is_answered_with_the_closest(transport: Any, option: str, fix: str) -> None:
    options: dict[str, Any] = {option: 1}
    with pytest.raises(TypeError) as raised:
        Server("s").run(transport, **options)
    assert f"unknown option: {option}; {fix}" in str(raised.value)


def test_stdio_with_an_option_names_the_transport_that_takes_it() -> None:
    options: dict[str, Any] = {"port": 3000}
    with pytest.raises(
        TypeError, match=r'stdio takes no options: port; name the transport: run\("http", …\)'
    ):
        Server("s").run(**options)


@pytest.mark.parametrize(
    ("port", "error"), [("3000", TypeError), (True, TypeError), (-1, ValueError), (65536, ValueError)]
)
def test_a_port_that_is_none_is_refused(port: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="port must be a whole number from 0 to 65535"):
        Server("s").run("http", port=port)


@pytest.mark.parametrize("transport", ["http", "http-plain", "ws"])
def test_a_port_in_use_is_one_line_and_an_exit_code(
    transport: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SystemExit) as ended:
        number = taken.getsockname()[1]
        Server("s").run(transport, port=number)
    assert ended.value.code == 4
    fix = "choose another with port=…, or port=0 for any free one"
    assert capsys.readouterr().err == f"error: port {number} is in use on 127.0.0.1; {fix}\n"


def test_an_address_of_another_machine_is_one_line_and_an_exit_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        Server("s").run("http", host="192.0.2.1", port=0)
    assert ended.value.code == 4
    line = capsys.readouterr().err
    assert line.startswith("error: cannot listen on 192.0.2.1, port 0: ")
    assert line.count("\n") == 1


def test_an_option_of_run_is_not_one_of_the_application() -> None:
    options: dict[str, Any] = {"port": 3000}
    with pytest.raises(TypeError, match="unknown option: port"):
        Server("s").asgi(**options)
