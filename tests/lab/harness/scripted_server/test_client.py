"""The process of a client under test: its environment, its output, and its end."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.scripted_server import client, standard_stream
from assay.lab.harness.scripted_server.client import ClientExit, ClientSetup, CommandClient, arguments
from assay.lab.harness.transport import Transport

AT_URL = ClientSetup("a/b", "2000-01-01", {"steps": [1]}, url="http://localhost:1/mcp")
AT_SERVER = ClientSetup("a/b", "2000-01-01", {}, server="python pipe.py 1")


async def run(source: str, limit: float = 20.0, setup: ClientSetup = AT_URL) -> ClientExit:
    return await CommandClient([sys.executable, "-c", source], Transport.HTTP).run(setup, limit)


@pytest.mark.parametrize(
    ("command", "setup", "words"),
    [
        (["x"], AT_URL, ["x", "http://localhost:1/mcp"]),
        (["x", "--at={url}", "y"], AT_URL, ["x", "--at=http://localhost:1/mcp", "y"]),
        (["x", "{server}"], AT_SERVER, ["x", "python pipe.py 1"]),
        (["x"], AT_SERVER, ["x"]),
    ],
)
def test_placeholders_are_replaced(command: list[str], setup: ClientSetup, words: list[str]) -> None:
    assert arguments(command, setup) == words


def test_name_is_what_a_user_would_write() -> None:
    client = CommandClient(["my client", "{server}", "{url}"], Transport.STDIO)
    assert client.name == "'my client' {server} {url}"


async def test_client_learns_scenario_revision_and_context_from_its_environment() -> None:
    ended = await run("import json, os; print(json.dumps(dict(os.environ)))")
    environment = json.loads(ended.stdout)
    assert environment["MCP_CONFORMANCE_SCENARIO"] == "a/b"
    assert environment["MCP_CONFORMANCE_PROTOCOL_VERSION"] == "2000-01-01"
    assert json.loads(environment["MCP_CONFORMANCE_CONTEXT"]) == {"name": "a/b", "steps": [1]}
    assert environment["PATH"] == os.environ["PATH"]


async def test_output_and_status_are_captured() -> None:
    ended = await run("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
    assert ended == ClientExit(7, b"out\n", b"err\n")


async def test_input_is_empty() -> None:
    assert (await run("import sys; print(sys.stdin.read() == '')")).stdout == b"True\n"


async def test_signal_is_a_negative_status() -> None:
    ended = await run("import os; os.kill(os.getpid(), 11)")
    assert (ended.status, ended.stopped) == (-signal.SIGSEGV, False)


async def test_timeout_is_reported() -> None:
    ended = await run("import time; time.sleep(600)", limit=0.2)
    assert (ended.status, ended.stopped) == (None, True)


async def test_long_output_is_truncated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standard_stream, "MOST", 1000)
    ended = await run("print('x' * 1_000_000)")
    assert (ended.status, len(ended.stdout)) == (0, 1000)


async def test_client_has_ended_although_a_child_holds_its_output() -> None:
    child = "import subprocess, sys; print('mine'); subprocess.Popen([sys.executable, '-c', {!r}], **{})"
    ended = await run(child.format("import time; time.sleep(600)", "{}"))
    assert ended == ClientExit(0, b"mine\n")


async def test_child_process_has_time_to_exit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "LINGER", 10.0)
    code = (
        "import os, subprocess; "
        "subprocess.Popen(['sh', '-c', 'cat; echo bye'], stdin=subprocess.PIPE); "
        "os._exit(0)"
    )
    assert await run(code) == ClientExit(0, b"bye\n")


async def test_child_that_left_the_group_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.lab.harness.scripted_server.client.GRACE", 0.1)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    source = (
        "import subprocess, sys; print('mine', flush=True);"
        f"subprocess.Popen([sys.executable, '-c', 'open({str(fifo)!r}).read()'], start_new_session=True)"
    )
    ended = await run(source.replace("'open(", '"open(').replace(".read()'", '.read()"'))
    assert ended == ClientExit(0, b"mine\n")
    fifo.write_text("end")  # the child reads it and exits


async def test_cancelled_run_leaves_no_process(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    source = f"import os, time; open({str(fifo)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    running = asyncio.create_task(run(source))
    process = int(await asyncio.to_thread(fifo.read_text))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


async def test_missing_command_is_reported() -> None:
    with pytest.raises(Unreachable, match="cannot run /no/such/client: No such file or directory"):
        await CommandClient(["/no/such/client"], Transport.HTTP).run(AT_URL, 1.0)
