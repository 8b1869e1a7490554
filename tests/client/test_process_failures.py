"""What a caller sees when a server process fails, with real processes."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from assay import Client, ClientLimits, ConnectionFailed, InvalidAnswer, Retry, ServerDied, Stdio, Timeout
from assay.revisions.registry import HANDSHAKE
from tests.client.everything import python
from tests.client.scripted import INITIALIZED, PROCESS, process

QUICK = ClientLimits(close_timeout=0.3, probe_timeout=0.5)
PROBED = ClientLimits(probe_timeout=0.2)


async def test_a_program_that_does_not_exist_is_named() -> None:
    with pytest.raises(ConnectionFailed, match="no-such-program was not found; install it, or check PATH"):
        async with Client(Stdio("no-such-program", "argument")):
            pass


async def test_a_directory_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConnectionFailed, match=r"the directory does not exist: .*nowhere"):
        async with Client(Stdio("python3", cwd=tmp_path / "nowhere")):
            pass


async def test_a_process_that_ends_at_once_shows_exit_code_and_stderr() -> None:
    target = python("-c", "import sys; print('missing TOKEN', file=sys.stderr); sys.exit(3)")
    with pytest.raises(ServerDied) as failure:
        async with Client(target):
            pass
    assert failure.value.exit_code == 3
    assert failure.value.stderr == ("missing TOKEN",)
    assert "ended with exit code 3\n  stderr: missing TOKEN" in str(failure.value)


async def test_only_the_last_lines_of_stderr_are_kept_and_nothing_in_them_acts() -> None:
    script = (
        "import sys\n"
        "for n in range(1000): print('line', n, file=sys.stderr)\n"
        "print('x' * 100_000, file=sys.stderr)\n"
        "sys.stderr.write('\\x1b[31mlast, without a newline'); sys.exit(1)"
    )
    with pytest.raises(ServerDied) as failure:
        async with Client(python("-c", script), limits=ClientLimits(stderr_lines=3)):
            pass
    assert failure.value.stderr == ("line 999", "(a long line)", "\x1b[31mlast, without a newline")
    assert "\x1b" not in str(failure.value)


async def test_a_process_killed_during_a_call_ends_the_call_with_the_signal() -> None:
    target = process("for message in messages():\n    os.kill(os.getpid(), signal.SIGKILL)")
    async with Client(target) as client:
        with pytest.raises(ServerDied) as failure:
            await client.call("anything")
        assert failure.value.exit_code == -signal.SIGKILL


async def test_stray_lines_are_ignored_and_shown_when_something_fails() -> None:
    target = process(
        "print('Server listening!', flush=True)\n"
        "for message in messages():\n"
        "    if message['method'] == 'tools/list':\n"
        "        print('{debug', flush=True)\n"
        "        answer(message, {'tools': []})\n"
        "    else:\n"
        "        sys.exit(1)"
    )
    async with Client(target) as client:
        assert await client.tools() == []
        with pytest.raises(ServerDied) as failure:
            await client.call("anything")
    assert failure.value.stray == ("Server listening!", "{debug")
    assert "not a message, on stdout: Server listening!" in str(failure.value)


async def test_a_timeout_shows_what_the_process_wrote() -> None:
    target = process(
        "for message in messages():\n    print('waiting for the database', file=sys.stderr, flush=True)"
    )
    async with Client(target) as client:
        with pytest.raises(
            Timeout, match=r"no answer to tools/call in 0\.5 s\n  stderr: waiting for the database"
        ):
            await client.call_tool("slow", timeout=0.5)


async def test_a_timeout_sends_the_cancellation() -> None:
    target = process(
        "pending = None\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['method'] == 'server/discover': answer(message, discovery)\n"
        "    elif message['method'] == 'tools/call': pending = message['id']\n"
        "    elif message['method'] == 'notifications/cancelled':\n"
        "        cancelled = message['params']['requestId']\n"
        "    else: answer(message, {'same': cancelled == pending})"
    )
    async with Client(target) as client:
        with pytest.raises(Timeout):
            await client.call_tool("slow", timeout=0.05)
        assert (await client.request("com.example/compare"))["same"] is True


async def test_a_cancelled_task_sends_the_cancellation() -> None:
    target = process(
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['method'] == 'server/discover': answer(message, discovery)\n"
        "    elif message['method'] == 'tools/call':\n"
        "        log = {'level': 'info', 'data': 1}\n"
        "        send({'jsonrpc': '2.0', 'method': 'notifications/message', 'params': log})\n"
        "    elif message['method'] == 'notifications/cancelled': cancelled = True\n"
        "    else: answer(message, {'cancelled': cancelled})"
    )
    started = asyncio.Event()
    async with Client(target, on_log=lambda message: started.set()) as client:
        task = asyncio.create_task(client.call("slow"))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await client.request("com.example/compare"))["cancelled"] is True


async def test_a_server_that_is_silent_until_initialize_is_opened_with_the_handshake() -> None:
    target = python(
        "-c",
        PROCESS % ({}, INITIALIZED) + "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['method'] == 'initialize': answer(message, initialized)\n"
        "    elif message['method'] == 'ping': answer(message, {})",
    )
    async with Client(target, limits=PROBED) as client:
        assert client.revision == HANDSHAKE[-1].date
        await client.ping()


async def test_a_server_that_ends_when_probed_is_started_again_for_the_handshake() -> None:
    target = python(
        "-c",
        PROCESS % ({}, INITIALIZED) + "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['method'] == 'initialize': answer(message, initialized)\n"
        "    elif message['method'] == 'ping': answer(message, {})\n"
        "    elif 'id' in message: sys.exit('expected initialize')",
    )
    for _ in range(2):
        async with Client(target) as client:
            assert client.revision == HANDSHAKE[-1].date
            await client.ping()


async def test_a_line_without_an_end_is_one_error_in_bounded_memory() -> None:
    target = process(
        "for message in messages():\n"
        "    try:\n"
        "        while True: sys.stdout.write('x' * 65536)\n"
        "    except BrokenPipeError: os._exit(0)"
    )
    limits = ClientLimits(message_bytes=100_000, close_timeout=0.3)
    async with Client(target, limits=limits) as client:
        with pytest.raises(
            InvalidAnswer, match=r"a line of more than 100000 bytes; .*raise limits.message_bytes"
        ):
            await client.call("anything")


async def test_a_malformed_answer_fails_its_call_only() -> None:
    target = process(
        "for message in messages():\n"
        "    if message['method'] == 'tools/list': answer(message, {'tools': []})\n"
        "    else: send({'jsonrpc': '2.0', 'id': message['id'], 'result': 1, 'error': 2})"
    )
    async with Client(target) as client:
        with pytest.raises(InvalidAnswer, match="either a result or an error"):
            await client.call("anything")
        assert await client.tools() == []


async def test_a_process_that_does_not_read_does_not_block_the_client() -> None:
    target = process("m = messages()\nnext(m)\nsignal.pause()")
    async with Client(target, limits=QUICK) as client:
        with pytest.raises(Timeout):
            await client.call_tool("first", timeout=0.05)
        with pytest.raises(Timeout):
            await client.call_tool("large", {"text": "x" * 5_000_000}, timeout=0.2)


async def test_only_harmless_variables_and_those_of_the_target_reach_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "secret")
    script = (
        "for message in messages(): answer(message, {'secret': os.environ.get('SECRET_TOKEN'),"
        " 'own': os.environ.get('OWN'), 'path': 'PATH' in os.environ})"
    )
    command = python("-c", script).command[0]
    text = PROCESS % ({"supportedVersions": [HANDSHAKE[-1].date], "capabilities": {}}, INITIALIZED) + script
    for inherit, expected in ((False, None), (True, "secret")):
        target = Stdio(command, "-c", text, env={"OWN": "1"}, inherit_env=inherit)
        async with Client(target) as client:
            variables = await client.request("com.example/variables")
            assert variables == {"secret": expected, "own": "1", "path": True}


@pytest.mark.parametrize("command", [(), ("uvx", 3)])
def test_a_command_must_have_words(command: tuple[str, ...]) -> None:
    with pytest.raises(TypeError, match="separate words"):
        Stdio(*command)


async def test_a_dead_process_is_started_again_once_for_the_next_call() -> None:
    target = process(
        "for message in messages():\n"
        "    if message['method'] == 'tools/call': os._exit(7)\n"
        "    answer(message, {'tools': []})"
    )
    async with Client(target) as client:
        with pytest.raises(ServerDied):
            await client.call("die")
        assert await client.tools() == []
        with pytest.raises(ServerDied):
            await client.call("die")
        with pytest.raises(ServerDied):  # it was started again as often as allowed
            await client.tools()


async def test_a_request_without_an_effect_survives_the_death_of_the_process(tmp_path: Path) -> None:
    flag = tmp_path / "died"
    target = process(
        f"flag = {os.fspath(flag)!r}\n"
        "for message in messages():\n"
        "    if not os.path.exists(flag):\n"
        "        open(flag, 'w').close(); os._exit(1)\n"
        "    answer(message, {'tools': []})"
    )
    async with Client(target) as client:
        assert await client.tools() == []


async def test_without_restarts_a_dead_process_stays_dead() -> None:
    async with Client(
        process("for message in messages(): os._exit(1)"), retry=Retry(deadline=0, restarts=0)
    ) as client:
        for _ in range(2):
            with pytest.raises(ServerDied):
                await client.tools()


async def test_a_command_that_echoes_its_input_is_named_at_once() -> None:
    with pytest.raises(InvalidAnswer, match="sends back what it receives: is it an MCP server"):
        async with Client(Stdio("cat")):
            pass


async def test_a_ping_before_the_answer_to_initialize_is_answered() -> None:
    script = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message.get('method') == 'initialize':\n"
        '        print(\'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\', flush=True)\n'
        "        assert json.loads(sys.stdin.readline())['result'] == {}\n"
        "        result = {'protocolVersion': message['params']['protocolVersion'], 'capabilities': {},\n"
        "                  'serverInfo': {'name': 'pinging', 'version': '1'}}\n"
        "        print(json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': result}), flush=True)"
    )
    async with Client(python("-c", script), revision=HANDSHAKE[-1].date) as client:
        assert client.server_info is not None
        assert client.server_info.name == "pinging"
