"""`assay serve --telemetry`: a collector gets the spans, on every transport; that it is away hurts nobody."""

import asyncio
import http.client
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.sync.client import connect

from assay.cli.exit_code import ExitCode
from assay.cli.main import main
from assay.lab.harness.subject.otlp import Receiver, attributes
from assay.revisions.registry import HANDSHAKE
from assay.telemetry.middleware import OPERATIONS
from tests.driving.answer import PATIENCE
from tests.driving.describing import REVISION, describe, mirrors
from tests.driving.messages import initialize, request
from tests.driving.process import environment, stdio_process
from tests.driving.warm_python import warm_python

TRACE = "0af7651916cd43dd8448eb211c80319c"
META = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
CALL = {"name": "test_simple_text", "arguments": {}}
SERVE = ("-m", "assay", "serve", "everything", "--telemetry")
LOADED = "import sys; print([name for name in sys.modules if name.startswith('opentelemetry')])"


@asynccontextmanager
async def listening(transport: str, *options: str) -> AsyncIterator[str]:
    """The server on a free port; it ends by itself when it is told to, without failure."""
    command = (*SERVE, *options, "--transport", transport, "--port", "0")
    process = await asyncio.create_subprocess_exec(
        warm_python(), *command, stdout=asyncio.subprocess.PIPE, env=environment()
    )
    assert process.stdout is not None
    try:
        await process.stdout.readline()
        yield (await process.stdout.readline()).decode().partition("endpoint: ")[2].strip()
        process.terminate()
        async with asyncio.timeout(PATIENCE):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def post(url: str, message: dict[str, Any]) -> int:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE)
    about = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    connection.request("POST", "/mcp", json.dumps(message), {**about, **mirrors(message)})  # type: ignore[dict-item]
    status = connection.getresponse().status
    connection.close()
    return status


def say(url: str, message: dict[str, Any]) -> None:
    with connect(url, subprotocols=["mcp"]) as link:  # type: ignore[list-item]
        link.send(json.dumps(message))
        link.recv(timeout=PATIENCE)


async def test_on_stdio_the_last_spans_and_the_metrics_are_sent_when_input_ends() -> None:
    async with Receiver() as receiver, stdio_process(*SERVE, receiver.endpoint) as process:
        await process.ask(initialize(HANDSHAKE[-1]))
        await process.ask(request("tools/call", {**CALL, "_meta": META}))
        process.end_input()
        assert await process.exit_code() == 0
        (span,) = await receiver.of_trace(TRACE, 0)
        (metric,) = await receiver.metric(OPERATIONS, 0)

    assert (span["name"], attributes(span)["transport.type"]) == ("tools/call test_simple_text", "stdio")
    assert len(metric["histogram"]["dataPoints"]) == 2
    assert process.errors == b""


@pytest.mark.parametrize(
    ("transport", "ask", "kind"), [("http", post, "http+sse"), ("ws", say, "ws")], ids=["http", "websocket"]
)
async def test_listening_it_sends_soon_and_what_is_left_when_it_is_told_to_stop(
    transport: str, ask: Any, kind: str
) -> None:
    message = describe("tools/call", CALL, meta=META)
    async with Receiver() as receiver:
        async with listening(transport, receiver.endpoint) as url:
            await asyncio.to_thread(ask, url, message)
            (span,) = await receiver.of_trace(TRACE, PATIENCE)
        (metric,) = await receiver.metric(OPERATIONS, 0)

    output = attributes(span)
    assert (output["transport.type"], output["mcp.protocol.version"]) == (kind, REVISION.date)
    assert attributes(metric["histogram"]["dataPoints"][0])["network.transport"] == "tcp"


async def test_without_a_url_the_environment_says_where_to(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Receiver() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint)
        async with stdio_process(*SERVE) as process:
            await process.ask(request("ping", {"_meta": META}))
            process.end_input()
            assert await process.exit_code() == 0
        assert len(await receiver.of_trace(TRACE, 0)) == 1


async def test_a_collector_that_is_away_is_told_of_in_a_line_and_disturbs_nothing() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        async with stdio_process(*SERVE, url) as process:
            answer = await process.ask(request("ping"))
            process.end_input()
            assert await process.exit_code() == 0  # within the patience of tests

    assert answer["result"] == {}
    assert b"Traceback" not in process.errors


@pytest.mark.parametrize("url", ["reference", "localhost:4318", "ftp://x", "http://", "http://x:y"])
def test_what_is_no_url_of_a_collector_is_refused(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "everything", "--telemetry", url]) == ExitCode.USAGE
    assert "--telemetry takes the URL of a collector" in capsys.readouterr().err


def python(code: str, path: str = "") -> subprocess.CompletedProcess[str]:
    own = environment()
    own["PYTHONPATH"] = f"{path}:{own['PYTHONPATH']}" if path else own["PYTHONPATH"]
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=own, check=False, timeout=30)


def test_without_the_extra_a_line_names_it(tmp_path: Path) -> None:
    (tmp_path / "opentelemetry.py").write_text("")
    code = "from assay.cli.main import main; raise SystemExit(main(['serve', 'everything', '--telemetry']))"

    outcome = python(code, str(tmp_path))

    assert outcome.returncode == ExitCode.USAGE
    assert 'pip install "assay-mcp[otel]"' in outcome.stderr
    assert "Traceback" not in outcome.stderr


def test_a_server_without_telemetry_loads_nothing_of_it() -> None:
    served = "import assay; from assay.bundled.everything import server; server.asgi()"

    assert python(f"{served}\n{LOADED}").stdout.strip() == "[]"
    assert python(f"import assay.telemetry\n{LOADED}").stdout.strip() != "[]"
