"""Whatever a subject says, no command lets it act on a terminal, in a log or in a CI system."""

import io
import json
import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.authority.app import log as authority_log
from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.main import commands, main
from assay.cli.output.difference import FORMATS
from assay.cli.output.fuzz import line
from assay.cli.output.progress import Live, Plain
from assay.cli.output.stream import paint
from assay.lab.fuzz.fuzzer import FuzzCounts
from assay.lab.harness.run.event import CellFinished, RunFinished, SubjectKnown
from assay.lab.harness.run.run import dump_run
from assay.lab.harness.trace.file import dump_trace
from assay.lab.report.registry import formats
from assay.profile.ledger import Ledger
from assay.revisions.registry import HANDSHAKE
from assay.signing.keys import write_pair
from tests.certify import bundles
from tests.certify.bundles import DEVELOPER
from tests.certify.entries import ENTRY
from tests.cli.calls.hostile import SERVER as CALLED
from tests.lab.hostile_text import COLOUR, WORST, everything_in_one_run, expect_harmless, with_text
from tests.lab.traces import request, result, stdio_trace
from tests.profile.ledgers import KEY, record

HOSTILE = with_text(everything_in_one_run(), WORST)
SERVER = f"""
import json, sys
text = {WORST!r}
sys.stderr.write(text + chr(10))
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        info = {{"name": text, "version": text}}
        capabilities = {{"tools": {{}}}}
        version = message["params"]["protocolVersion"]
        answer = dict(result=dict(protocolVersion=version, capabilities=capabilities, serverInfo=info))
    elif message.get("method") == "ping":
        answer = {{"result": {{"text": text}}, "error": text}}
    else:
        answer = {{"error": {{"code": -32601, "message": text}}}}
    if "id" in message:
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], **answer}}), flush=True)
"""


def stored(home: Path) -> str:
    home.mkdir()
    run = msgspec.structs.replace(
        HOSTILE, cells=[msgspec.structs.replace(cell, trace="trace.ndjson") for cell in HOSTILE.cells]
    )
    trace = stdio_trace(
        (">", request(1, "ping")), ("<", WORST.encode() + b"\n"), ("<", result(1, text=WORST))
    )
    header = msgspec.structs.replace(trace.header, subject=f"x{WORST}", scenario=f"ping{WORST}")
    (home / "trace.ndjson").write_bytes(dump_trace(type(trace)(header, trace.frames)))
    (home / "run.json").write_bytes(dump_run(run))
    return str(home)


def reports(home: Path) -> list[list[str]]:
    run = stored(home / "run")
    return [["report", run, "--format", name] for name in formats()]


def judgements(home: Path) -> list[list[str]]:
    stored(home / "run")
    return [["judge", str(home / "run" / "trace.ndjson"), "--format", name] for name in formats()]


def differences(home: Path) -> list[list[str]]:
    before, after = stored(home / "a"), stored(home / "b")
    better = [msgspec.structs.replace(cell, checks=[]) for cell in HOSTILE.cells]
    (home / "b" / "run.json").write_bytes(dump_run(msgspec.structs.replace(HOSTILE, cells=better)))
    return [["diff", before, after, "--format", name] for name in FORMATS]


def verifications(home: Path) -> list[list[str]]:
    (home / "dev.pub").write_bytes(DEVELOPER.public.pem())
    bundles.make(home / "evidence", datetime.now(UTC), version=WORST[:60])
    words = ["verify", str(home / "evidence"), "--trust", str(home / "dev.pub")]
    return [words, [*words, "--format", "json"]]


def ledgers(home: Path) -> list[list[str]]:
    ledger = Ledger(home / "ledger", KEY)
    ledger.append(record(WORST, session=None))
    ledger.close()
    write_pair(KEY, str(home / "dev"))
    return [["ledger", "show", str(home / "ledger")], ["ledger", "verify", str(home / "ledger")]]


def entries(home: Path) -> list[list[str]]:
    (home / "a.json").write_text(json.dumps(ENTRY))
    (home / "b.json").write_text(json.dumps({**ENTRY, "name": WORST, "version": WORST, WORST: WORST}))
    pair = [str(home / "a.json"), str(home / "b.json")]
    return [
        ["registry", "check", pair[1]],
        ["registry", "check", pair[1], "--format", "json"],
        ["registry", "diff", *pair],
        ["registry", "diff", *pair, "--format", "json"],
    ]


def checks(home: Path) -> list[list[str]]:
    (home / "server.py").write_text(SERVER)
    words = ["--scenario", "ping", "--output", str(home / "out"), "--timeout", "2", "--jobs", "1"]
    return [["check", *words, "--", sys.executable, str(home / "server.py")]]


def arguments(home: Path) -> list[list[str]]:
    (home / "server.py").write_text(CALLED)
    words = ["--timeout", "2", "--spec-version", "2025-11-25", "--allow-effects"]
    return [["arguments", *words, "--", sys.executable, str(home / "server.py"), json.dumps(WORST)]]


def clients(home: Path) -> list[list[str]]:
    (home / "client.py").write_text(f"import sys\nsys.stderr.write({WORST!r})\nsys.exit(3)\n")
    words = ["--scenario", "initialize", "--output", str(home / "out"), "--once"]
    return [["client", *words, "--", sys.executable, str(home / "client.py")]]


def matrices(home: Path) -> list[list[str]]:
    (home / "program.py").write_text(f"import sys\nsys.stderr.write({WORST!r})\nsys.exit(3)\n")
    program = json.dumps([sys.executable, str(home / "program.py")])
    (home / "matrix.toml").write_text(
        f"""
        revisions = ["{HANDSHAKE[-1].date}"]
        [steps]
        tools = {{ do = "list_tools" }}
        [clients.x]
        title = {json.dumps(WORST)}
        stdio = {program}
        [servers.x]
        title = {json.dumps(WORST)}
        stdio = {program}
        """
    )
    return [["matrix", str(home / "matrix.toml"), "--output", str(home / "out"), "--jobs", "1"]]


def installations(home: Path) -> list[list[str]]:
    entry = ["--config", str(home / "mcp.json"), "--name", "x"]
    command = ["--", sys.executable, WORST.replace("\x00", "")]
    (home / "broken.json").write_text(f'{{"mcpServers": {WORST}')
    return [
        ["install", "cursor", *entry, *command],
        ["install", "cursor", *entry, "--print", *command],
        ["install", "json", *command],
        ["install", "cursor", "--config", str(home / "broken.json"), *command],
    ]


def discoveries(home: Path) -> list[list[str]]:
    """In the settings of the project: those of the user are not read."""
    entries = {
        WORST: {"command": WORST, "args": [WORST], "env": {WORST: WORST}},
        "url": {"url": f"http://{WORST}"},
    }
    entries["headers"] = {"url": "http://127.0.0.1:1", "headers": {WORST: WORST}}
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": entries}))
    words = ["discover", "--host", "cursor", "--timeout", "2"]
    return [words, [*words, "--json"], [*words, "--start"]]


def lints(home: Path) -> list[list[str]]:
    (home / "server.py").write_text(CALLED)
    server = ["--", sys.executable, str(home / "server.py"), json.dumps(WORST)]
    return [["lint", *server], *(["lint", "--format", name, *server] for name in ("json", "sarif"))]


def calling(name: str, *calls: list[str]) -> Callable[[Path], list[list[str]]]:
    """Commands that call a server, as text and as JSON."""

    def words(home: Path) -> list[list[str]]:
        (home / "server.py").write_text(CALLED)
        server = ["--", sys.executable, str(home / "server.py"), json.dumps(WORST)]
        return [[name, *call, *server] for call in (*calls, [*calls[0], "--json"])]

    return words


def wrong_words(name: str) -> Callable[[Path], list[list[str]]]:
    """A command that shows nothing of a subject, only what the user wrote."""
    words = WORST.replace("\x00", "")
    return lambda home: [[name, words], [name, f"--{words}"]]


CALLING: dict[str, list[list[str]]] = {
    "tools": [[], ["x"], ["y"]],
    "call": [
        ["x", "number=1", "--progress", "--log", "info"],
        ["x", "number=13"],
        ["x", "number=x"],
        ["x", "choise=1"],
        ["x"],
    ],
    "resources": [[]],
    "templates": [[]],
    "prompts": [[]],
    "prompt": [["x"], ["y"]],
    "read": [["x:y"]],
    "ping": [["--count", "1"]],
    "doctor": [[]],
}


def loads(home: Path) -> list[list[str]]:
    (home / "server.py").write_text(CALLED)
    words = ["--users", "1", "--seconds", "0.2", "--warmup", "0", "--timeout", "2", "--allow-effects"]
    return [["load", *words, "--", sys.executable, str(home / "server.py"), json.dumps(WORST)]]


def replays(home: Path) -> list[list[str]]:
    (home / "server.py").write_text(CALLED)
    server = ["--timeout", "2", "--", sys.executable, str(home / "server.py"), json.dumps(WORST)]
    return [
        ["replay", "record", "--out", str(home / "bundle"), *server],
        ["replay", "run", str(home / "bundle"), *server],
    ]


COMMANDS: dict[str, Callable[[Path], list[list[str]]]] = {
    "report": reports,
    "judge": judgements,
    "diff": differences,
    "verify": verifications,
    "ledger": ledgers,
    "registry": entries,
    "check": checks,
    "arguments": arguments,
    "client": clients,
    "matrix": matrices,
    "load": loads,
    "replay": replays,
    "install": installations,
    "discover": discoveries,
    "lint": lints,
    **{name: calling(name, *calls) for name, calls in CALLING.items()},
    **{
        name: wrong_words(name)
        for name in ("authority", "certify", "explain", "keygen", "list", "prove", "tap")
    },
    **{name: wrong_words(name) for name in ("serve", "server")},
}


def test_every_command_is_covered() -> None:
    assert set(COMMANDS) == {name for name, _ in commands()}, "try the new command with hostile text"


@pytest.mark.parametrize("name", COMMANDS)
def test_no_output_of_a_command_acts(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for words in COMMANDS[name](tmp_path):
        main(words)
        output, errors = capsys.readouterr()
        assert output or errors
        expect_harmless(output)
        expect_harmless(errors)
        expect_harmless(COLOUR.sub("", paint(output)))


def printed(show: Callable[[], Any], capsys: pytest.CaptureFixture[str]) -> str:
    show()
    return "".join(capsys.readouterr())


def test_progress_does_not_act() -> None:
    from rich.console import Console
    from rich.progress import Progress

    events = [
        SubjectKnown(HOSTILE.subjects[0]),
        *(CellFinished(cell) for cell in HOSTILE.cells),
        RunFinished(HOSTILE),
    ]
    stream = io.StringIO()
    plain = Plain(stream)
    with Progress(console=Console(file=stream, force_terminal=False)) as bar:
        live = Live(bar, "opening")
        for event in events:
            plain.watch(event)
            live.watch(event)
    expect_harmless(stream.getvalue())


def test_line_of_the_fuzzer_does_not_act() -> None:
    expect_harmless(line(FuzzCounts(target=WORST), 1.0))


@pytest.mark.parametrize("failure", [CommandFailed(ExitCode.USAGE, WORST, WORST)])
def test_error_of_a_command_is_two_lines(
    failure: CommandFailed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(arguments: list[str]) -> int:
        raise failure

    monkeypatch.setattr("assay.cli.main.run", fail)
    assert main(["--traceback"]) == ExitCode.USAGE
    errors = capsys.readouterr().err
    expect_harmless(errors)
    assert errors.count("\n") == 2


def test_request_in_the_log_of_the_authority_begins_no_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        authority_log.info("%s %s %d", "GET", f"/{WORST}", 404)
    expect_harmless(caplog.records[0].getMessage())
    assert "\n" not in caplog.records[0].getMessage()
