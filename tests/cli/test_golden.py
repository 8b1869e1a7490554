"""Golden runs from the command line: recorded, played again, and what became different shown."""

from pathlib import Path

import pytest

from assay.cli.main import main
from assay.revisions.registry import HANDSHAKE
from tests.driving.warm_python import warm_python

pytestmark = pytest.mark.waits

SERVER = """
import json, os, sys, time
greeting = open(sys.argv[1]).read()
tool = {"name": "greet", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
for line in sys.stdin:
    message = json.loads(line)
    params, answer = message.get("params", {}), {}
    if message["method"] == "initialize":
        info = {"name": "x", "version": "1"}
        version = params["protocolVersion"]
        answer = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif message["method"] == "tools/list":
        answer = {"tools": [tool]}
    elif message["method"] == "tools/call":
        meta = {"example.com/built": time.time()}
        answer = {"content": [{"type": "text", "text": greeting}], "_meta": meta}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}), flush=True)
"""
IGNORE = ("--golden-ignore", "/result/_meta/example.com~1built")
SCENARIO = ("--scenario", "tools-read-only-calls")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("server.py").write_text(SERVER, "utf-8")
    Path("greeting").write_text("Good day.", "utf-8")


def judged(*options: str) -> int:
    command = f"{warm_python()} server.py greeting"
    return main(["server", "--command", command, "--spec-version", HANDSHAKE[-1].date, *options])


def test_one_changed_byte_in_one_reply_is_found_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(*SCENARIO, *IGNORE, "--record-golden", "golden") == 0
    assert "scenario runs recorded in golden" in capsys.readouterr().err
    assert judged(*SCENARIO, *IGNORE, "--against-golden", "golden") == 0
    assert "same as the golden run golden: 0 of 1 scenario runs differ" in capsys.readouterr().out

    Path("greeting").write_text("Good day!", "utf-8")
    assert judged(*SCENARIO, *IGNORE, "--against-golden", "golden") == 1
    lines = capsys.readouterr().out.splitlines()
    assert f"DIFFERS tools.read-only-calls (stdio, {HANDSHAKE[-1].date})" in lines
    assert any(line.endswith("(subject on 1/lines), /result/content/0/text") for line in lines)
    assert '    golden    "Good day."' in lines
    assert '    now       "Good day!"' in lines
    assert any(line.startswith("  traces    golden/tools-read-only-calls/stdio-") for line in lines)
    (normalised,) = [line for line in lines if line.startswith("normalised: ")]
    assert "ignored (" in normalised and "sentinels (" in normalised


def test_what_changes_by_itself_is_seen_when_it_is_recorded_twice(capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(*SCENARIO, "--repeat", "2", "--record-golden", "golden") == 1
    assert "/result/_meta/example.com~1built" in capsys.readouterr().out


def test_another_selection_is_told_plainly(capsys: pytest.CaptureFixture[str]) -> None:
    both = (*SCENARIO, "--scenario", "tools-definitions")
    assert judged(*both, *IGNORE, "--record-golden", "golden") == 0
    assert judged(*SCENARIO, *IGNORE, "--against-golden", "golden") == 0
    assert "0 of 1 scenario runs differ, 1 not selected" in capsys.readouterr().out
    assert judged("--scenario", "lifecycle-ping", *IGNORE, "--against-golden", "golden") == 1
    output = capsys.readouterr().out
    assert (
        f"DIFFERS extra: in this run, not in the golden one: lifecycle.ping (stdio, {HANDSHAKE[-1].date})"
        in output
    )


def test_what_is_gone_is_missed_by_whatever_name_it_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    selection = ("--scenario", "tools-list", "--spec-version", HANDSHAKE[-2].date)
    assert judged(*selection, "--record-golden", "golden") == 0
    fixed = SERVER.replace('params["protocolVersion"]', repr(HANDSHAKE[-2].date))
    Path("server.py").write_text(fixed, "utf-8")
    assert judged(*selection, "--against-golden", "golden") == 1
    assert f"tools.definitions (stdio, {HANDSHAKE[-1].date})" in capsys.readouterr().out


def test_differences_do_not_disturb_what_programs_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(*SCENARIO, "--record-golden", "golden") == 0
    assert judged(*SCENARIO, "--format", "json", "--against-golden", "golden") == 1
    out, err = capsys.readouterr()
    assert "DIFFERS" not in out
    assert "DIFFERS" in err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--against-golden", "nowhere"), "nowhere/golden.json: No such file"),
        (("--record-golden", "."), "is not a golden run"),
        (("--record-golden", "x", "--against-golden", "y"), "not allowed with"),
        (("--golden-ignore", "/x"), "--golden-ignore wants"),
        (("--record-golden", "x", "--golden-ignore", "x"), "a pointer must begin with a slash"),
    ],
)
def test_wrong_use_is_refused_before_anything_is_played(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], problem: str
) -> None:
    assert judged(*options) == 2
    assert problem in capsys.readouterr().err
    assert not Path("results").exists()


def test_a_golden_trace_that_was_changed_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    judged(*SCENARIO, *IGNORE, "--record-golden", "golden")
    (trace,) = Path("golden").glob("*/*.ndjson")
    trace.write_bytes(trace.read_bytes().replace(b"Good day.", b"Good day!"))
    assert judged(*SCENARIO, *IGNORE, "--against-golden", "golden") == 2
    assert "the hash chain is broken" in capsys.readouterr().err


def test_a_golden_run_of_another_suite_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    judged(*SCENARIO, *IGNORE, "--record-golden", "golden")
    assert judged("--suite", "everything", "--against-golden", "golden") == 2
    assert "golden is of the suite protocol, not everything" in capsys.readouterr().err


def test_an_unchanged_server_is_as_it_was_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    scenarios = ("asking-other-tools", "streams-resumption", "jsonrpc-malformed")
    options = [
        *("everything", "--transport", "http", "--transport", "ws"),
        *("--allow-effects", "--spec-version", HANDSHAKE[-1].date),
        *(word for name in scenarios for word in ("--scenario", name)),
    ]
    assert main(["server", *options, "--record-golden", "golden"]) == 0
    assert main(["server", *options, "--against-golden", "golden"]) == 0
    assert "same as the golden run golden: 0 of 5 scenario runs differ" in capsys.readouterr().out
