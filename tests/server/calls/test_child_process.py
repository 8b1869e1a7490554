"""`ctx.run`: commands, their output and limits, and the end of all their processes."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvloop

from assay import Completed, Context, ProcessError, Server, ToolError
from assay.server.calls import child_process
from tests.driving.warm_python import warm_python
from tests.server.scripted import GUARD, ScriptedClient, finished

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX process groups")

FOREVER = "tail -f /dev/null"
FAMILY = f'exec 3>"$1"; (echo started >&3; {FOREVER}) & wait'
"""A shell with a child that has a child. All hold a FIFO open, so its reader learns when all have ended."""
STUBBORN = f"trap '' TERM; {FAMILY}"


class Fifo:
    """A pipe with a name, which processes of a command hold open."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = str(path)
        # Without blocking: it need not wait for a writer, and ends once the last one has gone.
        self.file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0)

    async def started(self) -> asyncio.StreamReader:
        """Wait until a process has written its line; the reader ends when all processes have."""
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), self.file
        )
        assert await asyncio.wait_for(reader.readline(), GUARD) == b"started\n"
        return reader


async def all_ended(reader: asyncio.StreamReader) -> bool:
    return await asyncio.wait_for(reader.read(), GUARD) == b""


@pytest.fixture
def fifo(tmp_path: Path) -> Iterator[Fifo]:
    fifo = Fifo(tmp_path / "fifo")
    yield fifo
    fifo.file.close()


def call_with(run: Callable[[Context], Any]) -> Server:
    """A server whose tool `work` awaits what the function returns."""
    server = Server("test")

    @server.tool
    async def work(ctx: Context) -> str:
        result = await run(ctx)
        assert isinstance(result, Completed)
        return f"{result.returncode} {result.stdout!r} {result.stderr!r}"

    return server


async def text_of(run: Callable[[Context], Any]) -> str:
    async with ScriptedClient(call_with(run)) as client:
        return await client.text_of("work")


async def run(*words: str, **options: Any) -> Completed:
    """Run a command as a handler would; errors are those of the handler."""
    outcome: list[Completed] = []
    failure: list[Exception] = []

    async def work(ctx: Context) -> None:
        try:
            outcome.append(await ctx.run(*words, **options))
        except Exception as error:
            failure.append(error)

    server = Server("test")
    server.tools.add(work)
    await asyncio.wait_for(server.tools.call("work"), GUARD)
    if failure:
        raise failure[0]
    return outcome[0]


async def test_result_has_exit_code_and_both_outputs() -> None:
    assert await text_of(lambda ctx: ctx.run("sh", "-c", "echo out; echo err >&2")) == "0 'out\\n' 'err\\n'"


async def test_output_is_available_as_bytes_and_as_replaced_text() -> None:
    result = await run("printf", r"a\377b")
    assert (result.stdout, result.stdout_bytes) == ("a\ufffdb", b"a\xffb")


async def test_arguments_are_not_seen_by_a_shell() -> None:
    assert (await run("echo", "$HOME; ls", "*")).stdout == "$HOME; ls *\n"


async def test_command_gets_directory_environment_and_input(tmp_path: Path) -> None:
    result = await run(
        "sh", "-c", "pwd; echo $COLOUR; cat", cwd=tmp_path, env={"COLOUR": "red"}, stdin="text"
    )
    assert result.stdout == f"{tmp_path}\nred\ntext"


async def test_command_without_input_reads_an_empty_one() -> None:
    assert (await run("cat")).stdout == ""


async def test_command_need_not_read_its_input() -> None:
    assert (await run("true", stdin=b"x" * 1_000_000)).returncode == 0


async def test_failure_is_a_tool_error_with_the_last_lines_of_standard_error() -> None:
    with pytest.raises(ToolError) as caught:
        await run("sh", "-c", "echo partial; for n in $(seq 30); do echo line $n >&2; done; exit 3")
    error = caught.value
    assert isinstance(error, ProcessError)
    assert str(error).startswith("sh failed with exit code 3: line 21\nline 22\n")
    assert str(error).endswith("line 30")
    assert (error.returncode, error.stdout) == (3, "partial\n")


async def test_client_gets_the_failure() -> None:
    text = await text_of(lambda ctx: ctx.run("sh", "-c", "echo no such branch >&2; exit 1"))
    assert text == "sh failed with exit code 1: no such branch"


async def test_failure_by_a_signal_is_named() -> None:
    with pytest.raises(ProcessError, match="sh was ended by SIGTERM"):
        await run("sh", "-c", "kill -TERM $$")


async def test_unchecked_failure_is_a_result() -> None:
    assert (await run("sh", "-c", "exit 3", check=False)).returncode == 3


async def test_unknown_command_names_path(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ProcessError) as caught:
        await run("no-such-command", "x")
    assert str(caught.value) == (
        "command not found: no-such-command; install it, or add its directory to the server's PATH"
    )
    assert os.environ["PATH"] in caplog.text


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        (("git log -1",), {}, r'pass its arguments one by one: ctx.run\("git", "log", "-1"\)'),
        (("./missing",), {}, "it is a path, so PATH is not searched"),
        (("true",), {"cwd": "missing"}, "its directory does not exist: missing"),
        (("/",), {}, "cannot run /: Permission denied"),
        (("echo", "a\0b"), {}, "argument 1 contains a NUL character"),
        (("echo", "\ud800"), {}, "an argument is not valid text"),
        (("",), {}, "the command is empty"),
    ],
)
async def test_command_that_cannot_be_run_names_the_reason(
    words: tuple[str, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ProcessError, match=message):
        await run(*words, **options)


async def test_bound_on_the_output_must_be_positive() -> None:
    with pytest.raises(ValueError, match="max_bytes must be at least 1: 0"):
        await run("true", max_bytes=0)


@pytest.mark.parametrize(
    ("word", "message"),
    [(3, r"argument 2 is of type int: write str\(3\)"), (["x"], "of type list: pass text or a path")],
)
async def test_argument_that_is_not_text_names_the_fix(word: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        await run("head", "-n", word)


async def test_too_much_output_ends_the_command() -> None:
    with pytest.raises(ProcessError, match="yes wrote more than 1000 bytes: ask it for less"):
        await run("yes", max_bytes=1000)


async def test_of_long_standard_error_the_end_is_stored() -> None:
    result = await run("sh", "-c", "yes | head -c 100000 >&2; echo end >&2", max_bytes=100)
    assert len(result.stderr) == 100 and result.stderr.endswith("y\nend\n")


async def test_output_counts_as_activity() -> None:
    activity: list[None] = []
    command = child_process.make_command(
        ("echo", "x"), cwd=None, env=None, stdin=None, timeout=None, max_bytes=100
    )
    await child_process.run_command(command, check=True, on_output=lambda: activity.append(None))
    assert activity == [None]


async def test_timeout_ends_the_whole_group(fifo: Fifo) -> None:
    running = asyncio.ensure_future(run("sh", "-c", FAMILY, "sh", fifo.path, timeout=0.5))
    group = await fifo.started()
    with pytest.raises(ProcessError, match=r"sh did not end within 0\.5 s"):
        await running
    assert await all_ended(group)


@pytest.mark.parametrize("script", [FAMILY, STUBBORN])
async def test_cancelled_call_ends_the_whole_group(
    script: str, fifo: Fifo, monkeypatch: pytest.MonkeyPatch
) -> None:
    if script is STUBBORN:
        monkeypatch.setattr(child_process, "GRACE", 0.05)
    async with ScriptedClient(call_with(lambda ctx: ctx.run("sh", "-c", script, "sh", fifo.path))) as client:
        call = client.start_call("work")
        group = await fifo.started()
        await client.cancel(2)
        assert await finished(call) is None
        assert await all_ended(group)


async def test_cancelled_call_of_a_def_handler_ends_the_whole_group(fifo: Fifo) -> None:
    server = Server("test")

    @server.tool
    def work(ctx: Context) -> str:
        return ctx.wait(ctx.run("sh", "-c", FAMILY, "sh", fifo.path)).stdout

    async with ScriptedClient(server) as client:
        call = client.start_call("work")
        group = await fifo.started()
        await client.cancel(2)
        assert await finished(call) is None
        assert await all_ended(group)


CAREFUL = """
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
pipe = open(sys.argv[1], "w")
print("started", file=pipe, flush=True)
signal.sigwait({signal.SIGTERM})
print("clean", file=pipe)
"""


async def test_command_gets_the_grace_period_to_clean_up(fifo: Fifo) -> None:
    command = (sys.executable, "-c", CAREFUL, fifo.path)
    async with ScriptedClient(call_with(lambda ctx: ctx.run(*command))) as client:
        call = client.start_call("work")
        pipe = await fifo.started()
        await client.cancel(2)
        await finished(call)
        assert await asyncio.wait_for(pipe.read(), GUARD) == b"clean\n"


FORK = """
import os, signal, sys
child_is_ready, ready = os.pipe()
if os.fork():
    os.read(child_is_ready, 1)
    print("done")
else:
    {child}
"""
LEFT_BEHIND = FORK.format(
    child='f = open(sys.argv[1], "w"); print("started", file=f, flush=True); '
    'os.write(ready, b"x"); signal.pause()'
)
DAEMON = FORK.format(child='os.setsid(); os.write(ready, b"x"); open(sys.argv[1]).read()')


async def test_children_that_are_left_behind_end_with_the_command(fifo: Fifo) -> None:
    running = asyncio.ensure_future(run(sys.executable, "-c", LEFT_BEHIND, fifo.path))
    group = await fifo.started()
    assert (await running).stdout == "done\n"
    assert await all_ended(group)


async def test_daemon_that_left_the_group_does_not_hold_up_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_process, "LAST_OUTPUT", 0.05)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    result = await run(sys.executable, "-c", DAEMON, str(gate))
    assert result.stdout == "done\n"
    gate.open("w").close()  # ends the daemon


def test_commands_run_on_uvloop() -> None:
    async def main() -> None:
        assert (await run("cat", stdin="x")).stdout == "x"
        with pytest.raises(ProcessError, match="did not end"):
            await run("sh", "-c", f"{FOREVER} & wait", timeout=0.05)

    uvloop.run(main())


SERVED = """
from assay import Context, Limits, Server
server = Server("test", limits=Limits(drain=0.1))

@server.tool
async def work(script: str, path: str, ctx: Context) -> str:
    return (await ctx.run("sh", "-c", script, "sh", path)).stdout

server.run({transport!r}{options})
"""


@contextmanager
def serving(path: Path, transport: str, options: str = "") -> Iterator[subprocess.Popen[bytes]]:
    path.write_text(SERVED.format(transport=transport, options=options), "utf-8")
    command = [warm_python(), str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def tool_call(script: str, path: str) -> bytes:
    about = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "work", "arguments": {"script": script, "path": path}, "_meta": about}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return json.dumps(message).encode() + b"\n"


@pytest.mark.parametrize("script", [FAMILY, STUBBORN])
@pytest.mark.parametrize("stop", ["signal", "end of input"])
async def test_server_that_stops_ends_the_whole_group(
    tmp_path: Path, fifo: Fifo, script: str, stop: str
) -> None:
    with serving(tmp_path / "server.py", "stdio") as process:
        assert process.stdin is not None
        process.stdin.write(tool_call(script, fifo.path))
        process.stdin.flush()
        group = await fifo.started()
        if stop == "signal":
            process.terminate()
        else:
            process.stdin.close()
        assert await all_ended(group)


async def test_command_cannot_touch_the_streams_of_the_protocol(tmp_path: Path) -> None:
    with serving(tmp_path / "server.py", "stdio") as process:
        script = "cat; echo not JSON; echo neither >&2"
        out, _ = process.communicate(tool_call(script, "") + b'{"jsonrpc":"2.0","id":2}\n', timeout=GUARD)
    lines = out.splitlines()
    assert len(lines) == 2 and all(line.startswith(b'{"jsonrpc"') for line in lines)
    assert b'"text":"not JSON\\n"' in out
