"""`assay client`: what it takes, what it keeps, and how all that is done with a run works for clients too."""

import json
import os
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import main
from assay.lab.harness.run.run import Run, parse_run
from assay.lab.harness.scripted_server.client import CONTEXT, VERSION
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from tests.driving.process import ROOT
from tests.driving.warm_python import warm_python

pytestmark = [pytest.mark.waits, pytest.mark.timeout(90)]
VISITOR = Path(__file__).parent / "subjects" / "visitor.py"
OLD, NEW = HANDSHAKE[-1].date, PER_REQUEST[-1].date
SINGLE = ("--scenario", "tools_call", "--spec-version", OLD)
Captured = pytest.CaptureFixture[str]
SPOILED = """
import sys
source = open({visitor!r}).read().replace({before!r}, {after!r})
exec(compile(source, "visitor", "exec"))
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def client_command() -> str:
    return shlex.join((warm_python(), str(VISITOR)))


def spoiled(before: str, after: str) -> str:
    """The client, with something written otherwise."""
    Path("spoiled.py").write_text(SPOILED.format(visitor=str(VISITOR), before=before, after=after), "utf-8")
    return shlex.join((warm_python(), "spoiled.py"))


def judged(*options: str, command: str | None = None) -> int:
    return main(["client", "--command", command or client_command(), *SINGLE, *options])


def stored() -> Run:
    (path,) = Path("results").glob("run-*/run.json")
    return parse_run(path.read_bytes())


def test_client_that_does_well_conforms(capsys: Captured) -> None:
    assert main(["client", "--command", client_command(), "--scenario", "tools_call"]) == 0
    out, err = capsys.readouterr()
    assert f"{client_command()} on http" in out and "conforms: 2 passed" in out
    assert f"ok         tools_call (http {OLD}, http {NEW})" in err
    run = stored()
    assert (run.role, run.suite) == ("client", "client")


@pytest.mark.parametrize(
    ("options", "transport"), [("--address {url}", "http"), ("--server {server}", "stdio")]
)
def test_the_address_goes_where_the_command_wants_it(options: str, transport: str, capsys: Captured) -> None:
    command = f"{client_command()} {options}"
    assert judged(command=command) == 0
    assert f"{command} on {transport}" in capsys.readouterr().out


def test_results_hold_checks_output_and_the_protocol() -> None:
    assert main(["client", "--command", client_command(), "--scenario", "tools_call"]) == 0
    (folder,) = Path("results").glob("tools_call-*")
    assert sorted(entry.name for entry in folder.iterdir()) == [
        "checks.json",
        "stderr.txt",
        "stdout.txt",
        f"trace-http-{OLD}.ndjson",
        f"trace-http-{NEW}.ndjson",
    ]
    lines = f"--- http {OLD}\nThe sum is 8\n--- http {NEW}\nThe sum is 8\n"
    assert (folder / "stdout.txt").read_text() == lines
    assert "done with tools_call" in (folder / "stderr.txt").read_text()
    entries = json.loads((folder / "checks.json").read_text())
    requests = [entry["details"] for entry in entries if entry["id"] == "incoming-request"]
    assert {entry["status"] for entry in entries if entry["id"] == "incoming-request"} == {"INFO"}
    methods = ["initialize", "notifications/initialized", "tools/list", "tools/call"]
    assert [entry.get("mcpMethod") for entry in requests if entry["revision"] == OLD] == methods
    assert (requests[0]["method"], requests[0]["path"]) == ("POST", "/mcp")
    assert "Content-Type" in requests[0]["headers"] and json.loads(requests[0]["body"])["id"] == 1
    statuses = [entry["details"].get("statusCode") for entry in entries if entry["id"] == "outgoing-response"]
    assert statuses.count(200) == 5 and statuses.count(202) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "no client to judge"),
        (["--command", "x", "--attach"], "--attach starts nothing"),
        (["--attach", "--watch", "."], "--attach starts nothing"),
        (["--command", "x {server}", "--transport", "http"], "on http the command has no place for {server}"),
        (["--command", "x", "--transport", "stdio"], "on stdio the command needs {server}"),
        (["--command", "x", "--suite", "everything"], "no such suite: everything"),
        (["--command", "x", "--scenario", "no-such"], "no such scenario: no-such"),
        (["--command", "x", "--spec-version", "1999-01-01"], "unknown revision: 1999-01-01"),
        (
            ["--command", "x", "--scenario", "initialize", "--spec-version", NEW],
            f"none of these scenarios runs on http at {NEW}",
        ),
        (["--command", "x {url} {server}"], "the command has both {url} and {server}"),
        (
            ["--command", "x", "--transport", "ws", "--scenario", "auth/*"],
            "none of these scenarios runs on ws",
        ),
        (["--attach", "--scenario", "tools_call", "--scenario", "core.*"], "--attach is for one scenario"),
        (["--command", "'"], "cannot read the command: No closing quotation"),
    ],
)
def test_options_that_make_no_sense_are_told(options: list[str], words: str, capsys: Captured) -> None:
    assert main(["client", *options]) == 2
    out, err = capsys.readouterr()
    assert out == "" and words in err and "Traceback" not in err
    assert not Path("results").exists()


def test_server_suites_and_client_suites_are_not_mixed_up(capsys: Captured) -> None:
    assert main(["server", "--url", "http://localhost:1/mcp", "--suite", "client"]) == 2
    assert "the suite client does not judge servers" in capsys.readouterr().err


def test_alias_chooses_every_scenario_of_its_group(capsys: Captured) -> None:
    assert main(["list", "--client", "--suite", "auth"]) == 0
    assert capsys.readouterr().out.count("(also: auth/scope-handling)") == 5
    assert main(["client", "--command", "true", "--scenario", "auth/scope-handling"]) == 3
    assert len({cell.scenario for cell in stored().cells}) == 5


def test_one_client_that_comes_only_once_is_not_green(capsys: Captured) -> None:
    here_only = spoiled('if __name__ == "__main__"', 'if REVISION == "' + OLD + '"')
    assert main(["client", "--command", here_only, "--scenario", "tools_call"]) == 3
    assert "1 passed, 1 incomplete" in capsys.readouterr().out


FAULT = ('"jsonrpc": "2.0", "id"', '"jsonrpc": "1.0", "id"')


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("text", "repeat    assay client --command"),
        ("json", '"role": "client"'),
        ("junit", 'type="BASE-01"'),
        ("sarif", '"ruleId": "BASE-01"'),
        ("markdown", "`jsonrpc.version`"),
        ("html", '"role":"client"'),
    ],
)
def test_every_report_tells_of_a_client(form: str, words: str, capsys: Captured) -> None:
    assert judged("--format", form, command=spoiled(*FAULT)) == 1
    out = capsys.readouterr().out
    assert words in out
    (run,) = Path("results").glob("run-*")
    assert main(["report", str(run), "--format", form]) == 0
    assert words in capsys.readouterr().out


def test_baseline_has_a_part_for_clients(capsys: Captured) -> None:
    Path("known.yml").write_text("server: [ping]\nclient: ['tools_call:jsonrpc.*']\n", "utf-8")
    assert judged("--baseline", "known.yml", command=spoiled(*FAULT)) == 0
    assert "expected by the baseline" in capsys.readouterr().out
    assert judged("--baseline", "known.yml") == 1
    assert "stale in the baseline: tools_call:jsonrpc.*" in capsys.readouterr().out


def test_two_runs_are_compared(capsys: Captured) -> None:
    assert judged("--output", "before") == 0
    assert judged("--output", "after", command=spoiled(*FAULT)) == 1
    capsys.readouterr()
    (before,), (after,) = Path("before").glob("run-*"), Path("after").glob("run-*")
    assert main(["diff", str(before), str(after)]) == 1
    assert "jsonrpc.version" in capsys.readouterr().out


def test_golden_run_of_a_client_is_steady_and_sees_a_change(capsys: Captured) -> None:
    both = [
        "client",
        "--command",
        client_command(),
        "--scenario",
        "tools_call",
        "--scenario",
        "auth/metadata-default",
    ]
    both += ["--scenario", "core.open-house"]
    assert main([*both, "--record-golden", "golden"]) in (0, 1)
    for _ in range(2):
        capsys.readouterr()
        main([*both, "--against-golden", "golden"])
        assert "same as the golden run golden: 0 of 6 scenario runs differ" in capsys.readouterr().out
    other = spoiled('"name": "visitor"', '"name": "guest"')
    assert main(["client", "--command", other, *SINGLE, "--against-golden", "golden"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(line.endswith("(subject on 1/post-initialize-1), /params/clientInfo/name") for line in lines)
    assert '    now       "guest"' in lines


def test_stored_traffic_of_a_client_is_judged_again(capsys: Captured) -> None:
    assert judged(command=spoiled(*FAULT)) == 1
    capsys.readouterr()
    assert main(["judge", "results"]) == 1
    assert "FAILURE jsonrpc.version" in capsys.readouterr().out


def started(*options: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [warm_python(), "-m", "assay", "client", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )


def said_until(process: "subprocess.Popen[str]", words: str) -> list[str]:
    """Lines of standard error, up to the one with these words."""
    assert process.stderr is not None
    lines: list[str] = []
    while not any(words in line for line in lines[-1:]):
        lines.append(process.stderr.readline())
        assert lines[-1], lines
    return lines


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_client_that_nobody_starts_is_judged_after_it_has_come(transport: str) -> None:
    process = started("--attach", "--transport", transport)
    lines = said_until(process, "press Ctrl-C")
    address = lines[0].partition(": ")[2].strip()
    context: dict[str, Any] = {"steps": [{"do": "list_tools"}]}
    subprocess.run(
        [*shlex.split(client_command()), *(["--server", address] if transport == "stdio" else [address])],
        env={**os.environ, VERSION: OLD, CONTEXT: json.dumps(context), "MCP_CONFORMANCE_SCENARIO": "x"},
        check=True,
        capture_output=True,
        timeout=30,
    )
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, out + err
    assert "conforms: 1 passed" in out
    assert [(cell.scenario, cell.revision) for cell in stored().cells] == [("core.open-house", OLD)]


def test_attached_client_that_never_comes_proves_nothing(capsys: Captured) -> None:
    assert main(["client", "--attach", "--timeout", "0.2", "--scenario", "tools_call"]) == 3
    out, err = capsys.readouterr()
    assert (
        "MCP endpoint: http://localhost:" in err
        and 'call tool (name: add_numbers, arguments: {"a": 5, "b": 3})' in err
    )
    assert "the client never connected" in out


def test_edited_client_is_judged_again() -> None:
    command = spoiled(*FAULT)
    process = started("--command", command, *SINGLE, "--watch", "spoiled.py")
    said_until(process, "waiting for a change")
    Path("spoiled.py").write_text(VISITOR.read_text("utf-8"), "utf-8")
    lines = said_until(process, "waiting for a change")
    assert "last: does not conform: 1 failed\n" in lines and "changed: spoiled.py\n" in lines
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 130 and "conforms: 1 passed" in out
    assert len(list(Path("results").glob("tools_call-*"))) == 1
