"""`assay serve`: which server is meant, where it listens, what it prints, and how each failure ends."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.main import main
from assay.cli.options.python_server import load_server, split
from assay.revisions.registry import HANDSHAKE
from tests.driving.warm_python import warm_python

Output = pytest.CaptureFixture[str]

SINGLE = 'from assay import Server\nweather = Server("weather")\n'
TWO = 'from assay import Server\na = Server("a")\nb = Server("b")\n'
USUAL = 'from assay import Server\nother = Server("other")\nserver = Server("usual")\n'
TITLED = 'from assay import Server\nserver = Server("named", title=TITLE)\n'


def print_options(server: object, transport: str, **options: Any) -> None:
    """In place of the transport: prints what it would be run with, and announces an address."""
    announce = options.pop("announce", None)
    print(transport, sorted(options.items()))
    if announce is not None:
        announce("http://localhost:4321/mcp")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty current directory; what a test imports from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    before = {*sys.modules}
    yield
    for name in {*sys.modules} - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__spec__", None)):
            del sys.modules[name]


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, "utf-8")


@pytest.mark.parametrize(
    ("target", "parts"),
    [
        ("everything", ("everything", None)),
        ("a.py", ("a.py", None)),
        ("dir/a.py:name", ("dir/a.py", "name")),
        ("package.module:name", ("package.module", "name")),
        ("C:\\dir\\a.py", ("C:\\dir\\a.py", None)),
        ("C:\\dir\\a.py:name", ("C:\\dir\\a.py", "name")),
    ],
)
def test_a_target_is_a_place_and_perhaps_a_name(target: str, parts: tuple[str, str | None]) -> None:
    assert split(target) == parts


@pytest.mark.parametrize("target", ["a.py:", ":name", ":"])
def test_half_a_target_is_refused(target: str) -> None:
    with pytest.raises(CommandFailed) as failure:
        split(target)
    assert failure.value.code is ExitCode.USAGE


def test_the_bundled_server_is_found_by_its_name() -> None:
    assert load_server("everything").info.name == "mcp-conformance-test-server"


@pytest.mark.parametrize(
    ("path", "text", "target", "name"),
    [
        ("one.py", SINGLE, "one.py", "weather"),
        ("one.py", SINGLE, "one.py:weather", "weather"),
        ("one.py", SINGLE, "./one.py", "weather"),
        ("deep/my-server.py", SINGLE, "deep/my-server.py", "weather"),
        ("two.py", TWO, "two.py:b", "b"),
        ("usual.py", USUAL, "usual.py", "usual"),
        ("alias.py", SINGLE + "same = weather\n", "alias.py", "weather"),
        ("mod.py", SINGLE, "mod", "weather"),
        ("package/inner.py", TWO, "package.inner:a", "a"),
        ("json.py", SINGLE, "json.py", "weather"),
        ("everything.py", SINGLE, "everything.py", "weather"),
    ],
)
def test_the_server_that_is_meant_is_found(path: str, text: str, target: str, name: str) -> None:
    write(path, text)
    assert load_server(target).info.name == name


def test_a_file_can_import_its_neighbours_and_describe_its_own_types() -> None:
    write("deep/neighbour.py", SINGLE)
    text = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "from neighbour import weather\n@dataclass\nclass Point:\n    x: int\n"
        "@weather.tool\ndef move(point: Point) -> Point: ...\n"
    )
    write("deep/main_file.py", text)
    assert [tool.name for tool in load_server("deep/main_file.py").tools.list()] == ["move"]


def test_the_block_for_running_as_a_script_does_not_run() -> None:
    write("guarded.py", SINGLE + 'if __name__ == "__main__":\n    raise AssertionError("not reached")\n')
    assert load_server("guarded.py").info.name == "weather"


def test_what_a_module_prints_while_it_loads_goes_to_standard_error(capsys: Output) -> None:
    write("chatty.py", SINGLE + 'print("hello")\n')
    load_server("chatty.py")
    assert capsys.readouterr() == ("", "hello\n")


@pytest.mark.parametrize(
    ("text", "target", "code", "problem", "hint"),
    [
        (None, "nowhere.py", 2, "no such file: nowhere.py", "Python file"),
        (None, "nowhere", 2, "no module named nowhere", "bundled server: everything"),
        (None, "no.where:server", 2, "no module named no", "bundled server"),
        (None, ".", 2, "is a directory: .", "Python file"),
        (None, "everything:nobody", 2, "nobody does not exist in everything", "choose: everything:server"),
        ("x = 1\n", "file.py", 2, "no server in file.py", "server = assay.Server("),
        ("x = 1\n", "file.py:x", 2, "x is not a Server in file.py", "server = assay.Server("),
        (TWO, "file.py", 2, "several servers in file.py", "choose: file.py:a, file.py:b"),
        (TWO, "file.py:c", 2, "c does not exist in file.py", "choose: file.py:a, file.py:b"),
        (TWO, "file:c", 2, "c does not exist in file", "choose: file:a, file:b"),
        ("\n1 / 0\n", "file.py", 4, "failed: ZeroDivisionError: division by zero", "--traceback"),
        ("\n1 / 0\n", "file", 4, "importing file failed: ZeroDivisionError", "--traceback"),
        ("def broken(:\n", "file.py", 4, "failed: SyntaxError: invalid syntax", "--traceback"),
        ("import no_such_thing\n", "file.py", 4, "No module named 'no_such_thing'", "--traceback"),
        ("import no_such_thing\n", "file", 4, "No module named 'no_such_thing'", "--traceback"),
        ("raise SystemExit(0)\n", "file.py", 4, "importing file.py failed: SystemExit: 0", "--traceback"),
        ("raise ValueError('a\\nb')\n", "file.py", 4, "failed: ValueError: a", "--traceback"),
    ],
)
def test_a_target_that_cannot_be_served_gets_a_line_and_a_hint(
    capsys: Output, text: str | None, target: str, code: int, problem: str, hint: str
) -> None:
    if text is not None:
        write("file.py", text)
    assert main(["serve", target]) == code
    captured = capsys.readouterr()
    lines, advice = captured.err.splitlines()
    assert captured.out == ""
    assert lines.startswith("assay: error: ")
    assert problem in lines
    assert hint in advice


def test_a_broken_module_names_its_own_line(capsys: Output) -> None:
    """The mistake is found deep inside the framework; its author looks for their own line."""
    write("file.py", SINGLE + "\n\n@weather.tool\ndef f(*args): ...\n")
    assert main(["serve", "file.py"]) == ExitCode.NOT_STARTED
    assert "RegistrationError: f: parameter *args" in (lines := capsys.readouterr().err.splitlines()[0])
    assert lines.endswith("file.py, line 5)")


def test_a_broken_module_shows_its_traceback_on_request(capsys: Output) -> None:
    write("file.py", "1 / 0\n")
    assert main(["serve", "--traceback", "file.py"]) == ExitCode.NOT_STARTED
    assert capsys.readouterr().err.startswith("Traceback (most recent call last):\n")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "arguments are required: TARGET"),
        (["everything", "--transport", "pigeon"], "invalid choice: 'pigeon'"),
        (["everything", "--port", "many"], "'many' is not a port"),
        (["everything", "--port", "65536"], "'65536' is not a port"),
        (["everything", "--port", "-1"], "--port"),
        (["everything", "--trans", "http"], "unknown option: --trans"),
        (["everything", "--port", "3000"], "--port has no effect on stdio"),
        (["everything", "--allow-origin", "https://a.example"], "--allow-origin has no effect on stdio"),
        (["everything", "--trusted-proxy", "10.0.0.1"], "--trusted-proxy has no effect on stdio"),
        (["everything", "--trusted-proxy", "proxy.example"], "'proxy.example' is neither an address nor"),
        (["everything", "--trusted-proxy", "10.0.0.1/8"], "'10.0.0.1/8' is neither an address nor"),
    ],
)
def test_a_wrong_command_line_is_refused(capsys: Output, options: list[str], problem: str) -> None:
    assert main(["serve", *options]) == ExitCode.USAGE
    captured = capsys.readouterr()
    assert captured.out == ""
    assert problem in captured.err.splitlines()[0]
    assert len(captured.err.splitlines()) == 2


@pytest.mark.parametrize("option", ["--url", "--command", "--suite", "--scenario"])
@pytest.mark.parametrize("form", ["{} x", "{}=x", "everything {} x", "{}"])
def test_an_option_for_judging_says_which_command_judges(capsys: Output, option: str, form: str) -> None:
    assert main(["serve", *form.format(option).split()]) == ExitCode.USAGE
    assert capsys.readouterr().err == (
        f"assay: error: {option} is not an option of `assay serve`\n"
        "  it is an option of `assay check`, which judges a server; this command serves one\n"
    )


LOOPBACK = "('localhost', '127.0.0.1', '[::1]'"


@pytest.mark.parametrize(
    ("options", "run_with"),
    [
        ([], "stdio []"),
        (
            ["--transport", "http"],
            f"http [('allowed_hosts', {LOOPBACK})), ('allowed_origins', ()), "
            "('host', '127.0.0.1'), ('port', 3000), ('trusted_proxies', ())]",
        ),
        (
            [
                "--transport",
                "http-plain",
                "--host",
                "::2",
                "--port",
                "0",
                "--allow-host",
                "a",
                "--allow-host",
                "b",
                "--allow-origin",
                "c",
                "--trusted-proxy",
                "10.0.0.0/8",
                "--trusted-proxy",
                "::1",
            ],
            f"http-plain [('allowed_hosts', {LOOPBACK}, '[::2]', 'a', 'b')), ('allowed_origins', ('c',)), "
            "('host', '::2'), ('port', 0), ('trusted_proxies', ('10.0.0.0/8', '::1/128'))]",
        ),
        (
            ["--transport", "ws", "--port", "7"],
            f"ws [('allowed_hosts', {LOOPBACK})), ('allowed_origins', ()), "
            "('host', '127.0.0.1'), ('port', 7), ('trusted_proxies', ())]",
        ),
    ],
)
def test_options_reach_the_transport(
    capsys: Output, monkeypatch: pytest.MonkeyPatch, options: list[str], run_with: str
) -> None:
    monkeypatch.setattr("assay.cli.serve.run", print_options)
    write("titled.py", TITLED.replace("TITLE", "None"))
    assert main(["serve", "titled.py", *options]) == ExitCode.OK
    assert capsys.readouterr().out.splitlines()[0] == run_with


@pytest.mark.parametrize(("title", "called"), [("None", "named"), ("'Telling Server'", "Telling Server")])
def test_the_address_is_announced_under_the_title_or_the_name(
    capsys: Output, monkeypatch: pytest.MonkeyPatch, title: str, called: str
) -> None:
    monkeypatch.setattr("assay.cli.serve.run", print_options)
    write("titled.py", TITLED.replace("TITLE", title))
    assert main(["serve", "titled.py", "--transport", "http"]) == ExitCode.OK
    assert capsys.readouterr().out.splitlines()[1:] == [
        f"{called} running on http://localhost:4321",
        "  - MCP endpoint: http://localhost:4321/mcp",
    ]


def test_a_port_in_use_is_named(capsys: Output) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        arguments = ["serve", "everything", "--transport", "http", "--port", str(number)]
        assert main(arguments) == ExitCode.NOT_STARTED
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(
        f"assay: error: port {number} is in use on 127.0.0.1\n  choose another with --port"
    )


def test_an_address_that_is_not_ours_is_refused(capsys: Output) -> None:
    arguments = ["serve", "everything", "--transport", "http", "--host", "192.0.2.1", "--port", "0"]
    assert main(arguments) == ExitCode.NOT_STARTED
    captured = capsys.readouterr().err.splitlines()
    assert captured[0].startswith("assay: error: cannot listen on 192.0.2.1, port 0: ")
    assert len(captured) == 2


def test_http_without_its_extra_says_what_to_install(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httptools", None)
    arguments = ["serve", "everything", "--transport", "http", "--port", "0"]
    assert main(arguments) == ExitCode.NOT_STARTED
    captured = capsys.readouterr()
    assert captured.out == ""
    assert 'pip install "assay-mcp[http]"' in captured.err


@contextmanager
def serving(*arguments: str, stdin: int = subprocess.PIPE) -> Iterator[subprocess.Popen[str]]:
    """A real process; a test that fails must not leave it behind."""
    command = [warm_python(), "-m", "assay", "serve", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=stdin, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def ask(process: subprocess.Popen[str], method: str, params: dict[str, Any]) -> dict[str, Any]:
    assert process.stdin is not None
    print(json.dumps(request(method, params)), file=process.stdin, flush=True)
    return dict(json.loads(line(process)))


def request(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": method, "method": method, "params": params}


def introduction(date: str) -> dict[str, Any]:
    return {"protocolVersion": date, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@pytest.mark.parametrize("date", [revision.date for revision in HANDSHAKE])
def test_everything_is_served_on_stdio_until_input_ends(date: str) -> None:
    with serving("everything") as process:
        assert ask(process, "initialize", introduction(date))["result"]["protocolVersion"] == date
        assert process.stdin is not None
        print('{"jsonrpc":"2.0","method":"notifications/initialized"}', file=process.stdin, flush=True)
        tools = ask(process, "tools/list", {})["result"]["tools"]
        assert tools[0]["name"] == "test_simple_text"
        rest = process.communicate(timeout=10)
    assert (process.returncode, rest) == (0, ("", ""))


def test_only_the_protocol_is_on_standard_output_of_a_chatty_server() -> None:
    write(
        "chatty.py", 'print("loading")\n' + SINGLE + '@weather.tool\nasync def f():\n    print("working")\n'
    )
    with serving("chatty.py") as process:
        ask(process, "initialize", introduction(HANDSHAKE[-1].date))
        assert ask(process, "tools/call", {"name": "f"})["result"] == {"content": [], "isError": False}
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (0, "")
    assert sorted(err.split()) == ["loading", "working"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_somebody_at_a_terminal_is_told_what_happens() -> None:
    ours, theirs = os.openpty()
    try:
        with serving("everything", stdin=theirs) as process:
            assert process.stderr is not None
            lines = [process.stderr.readline(), process.stderr.readline()]
            os.write(ours, b"\x04")
            assert process.wait(timeout=10) == 0
            assert line(process) == ""
    finally:
        os.close(ours)
        os.close(theirs)
    assert lines == [
        "MCP Conformance Test Server waits for JSON-RPC on standard input; Ctrl-D ends it\n",
        "  for HTTP: assay serve everything --transport http\n",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_an_interrupt_on_stdio_ends_quietly() -> None:
    with serving("everything") as process:
        ask(process, "initialize", introduction(HANDSHAKE[-1].date))
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == ExitCode.INTERRUPTED
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_everything_is_served_on_a_websocket_until_it_is_interrupted() -> None:
    with serving("everything", "--transport", "ws", "--port", "0") as process:
        title, endpoint = line(process), line(process)
        base = title.removeprefix("MCP Conformance Test Server running on ").rstrip()
        assert base.startswith("ws://localhost:")
        assert endpoint == f"  - MCP endpoint: {base}/mcp/ws\n"
        url = endpoint.removeprefix("  - MCP endpoint: ").rstrip()
        with connect(url, subprotocols=[Subprotocol("mcp")], proxy=None) as socket:
            socket.send(json.dumps(request("initialize", introduction(HANDSHAKE[-1].date))))
            assert "mcp-conformance-test-server" in str(socket.recv(timeout=10))
            process.send_signal(signal.SIGINT)
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(timeout=10)
            assert closed.value.rcvd is not None
            assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1001, "the server is stopping")
        assert process.wait(timeout=10) == ExitCode.INTERRUPTED
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("transport", ["http", "http-plain"])
def test_everything_is_served_on_http_until_it_is_interrupted(transport: str) -> None:
    with serving("everything", "--transport", transport, "--port", "0") as process:
        title, endpoint = line(process), line(process)
        base = title.removeprefix("MCP Conformance Test Server running on ").rstrip()
        assert endpoint == f"  - MCP endpoint: {base}/mcp\n"
        connection = http.client.HTTPConnection(base.removeprefix("http://"), timeout=10)
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        body = json.dumps(request("initialize", introduction(HANDSHAKE[-1].date)))
        connection.request("POST", "/mcp", body, headers)
        response = connection.getresponse()
        assert response.status == 200
        assert b"mcp-conformance-test-server" in response.read()
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == ExitCode.INTERRUPTED
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_the_reference_server_is_made_to_order() -> None:
    assert load_server("reference").info.name == "RefMCP-TestServer"
    Path("notes.txt").write_text("hello", "utf-8")
    reference = load_server("reference", root=".", strict=True)
    assert reference.strictness.sessions
    assert "file:///root/notes.txt" in [resource.uri for resource in reference.resources.list()]


@pytest.mark.parametrize(("option", "value"), [("--root", ["."]), ("--strict", []), ("--seed-compat", [])])
@pytest.mark.parametrize("target", ["everything", "server.py", "reference:server"])
def test_an_option_of_the_reference_server_is_of_no_use_to_others(
    capsys: Output, target: str, option: str, value: list[str]
) -> None:
    assert main(["serve", target, option, *value]) == ExitCode.USAGE
    captured = capsys.readouterr().err
    assert captured.startswith(f"assay: error: {option} is an option of the bundled server `reference`\n")
    assert target in captured


@pytest.mark.parametrize(("root", "reason"), [("missing", "No such file"), ("file", "Not a directory")])
def test_a_folder_that_cannot_be_served_is_named(capsys: Output, root: str, reason: str) -> None:
    Path("file").write_text("", "utf-8")
    assert main(["serve", "reference", "--root", root]) == ExitCode.USAGE
    assert f"cannot serve the folder {root}: {reason}" in capsys.readouterr().err


def test_a_folder_without_its_extra_says_what_to_install(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.bundled.reference.watch.find_spec", lambda name: None)
    assert main(["serve", "reference", "--root", "."]) == ExitCode.NOT_STARTED
    assert 'pip install "assay-mcp[watch]"' in capsys.readouterr().err


def test_a_watched_folder_is_served_on_stdio_until_input_ends() -> None:
    Path("box").mkdir()
    with serving("reference", "--root", "box") as process:
        assert "result" in ask(process, "initialize", introduction(HANDSHAKE[-1].date))
        assert process.stdin is not None
        print('{"jsonrpc":"2.0","method":"notifications/initialized"}', file=process.stdin, flush=True)
        assert "result" in ask(process, "ping", {})
        Path("box/new.txt").write_text("new", "utf-8")
        assert json.loads(line(process))["method"] == "notifications/resources/list_changed"
        read = ask(process, "resources/read", {"uri": "file:///root/new.txt"})
        assert read["result"]["contents"][0]["text"] == "new"
        rest = process.communicate(timeout=10)
    assert (process.returncode, rest) == (0, ("", ""))


def test_a_strict_server_wants_initialized_first() -> None:
    with serving("reference", "--strict") as process:
        assert "result" in ask(process, "initialize", introduction(HANDSHAKE[-1].date))
        assert ask(process, "tools/list", {})["error"]["code"] == -32600


def test_debug_mode_sends_the_traceback_and_warns_about_it() -> None:
    write("broken.py", SINGLE + "@weather.tool\nasync def f():\n    return 1 / 0\n")
    with serving("broken.py", "--debug") as process:
        ask(process, "initialize", introduction(HANDSHAKE[-1].date))
        (block,) = ask(process, "tools/call", {"name": "f"})["result"]["content"]
        assert "ZeroDivisionError: division by zero" in block["text"] and "return 1 / 0" in block["text"]
        _, errors = process.communicate(timeout=10)
    assert errors.startswith("debug mode: clients get exceptions with tracebacks; not for production\n")


def test_without_debug_mode_the_traceback_stays_in_the_log() -> None:
    write("broken.py", SINGLE + "@weather.tool\nasync def f():\n    return 1 / 0\n")
    with serving("broken.py") as process:
        ask(process, "initialize", introduction(HANDSHAKE[-1].date))
        (block,) = ask(process, "tools/call", {"name": "f"})["result"]["content"]
        assert block["text"] == "tool f failed: internal error"
        _, errors = process.communicate(timeout=10)
    assert "ZeroDivisionError" in errors


def test_served_tool_that_blocks_the_event_loop_is_named() -> None:
    write(
        "slow.py",
        "import os, time\nfrom assay import Limits, Server\n"
        "server = Server('slow', limits=Limits(blocked_loop=0.05))\n"
        "@server.tool\nasync def f(gate: str):\n    open(gate).read()\n",
    )
    os.mkfifo("gate")
    with serving("slow.py") as process:
        assert process.stdin is not None and process.stderr is not None
        ask(process, "initialize", introduction(HANDSHAKE[-1].date))
        print(
            json.dumps(request("tools/call", {"name": "f", "arguments": {"gate": "gate"}})),
            file=process.stdin,
            flush=True,
        )
        warning = process.stderr.readline()
        Path("gate").write_text("go on", "utf-8")
        assert json.loads(line(process))["id"] == "tools/call"
    assert warning.startswith("tool f has blocked the event loop") and "slow.py, line 6" in warning
