"""`assay server`, option by option, on small servers with one fault each."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.lab.harness.run.run import Run, parse_run
from assay.revisions.registry import DATES, HANDSHAKE
from tests.cli.subjects.echo import echoing
from tests.driving.warm_python import warm_python

SUBJECT = Path(__file__).parent / "subjects" / "subject.py"
NEWEST = HANDSHAKE[-1].date
Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def judge(fault: str, *options: str, version: str | None = NEWEST) -> int:
    command = f"{warm_python()} {SUBJECT} {fault}"
    versions = ["--spec-version", version] if version else []
    return main(["server", "--command", command, *versions, *options])


def stored(directory: Path) -> Run:
    (path,) = directory.glob("run-*/run.json")
    return parse_run(path.read_bytes())


UNKNOWN = ("--scenario", "jsonrpc-unknown-method")


def test_failure_names_rule_expectation_frames_and_the_way_to_repeat_it(capsys: Output) -> None:
    assert judge("wrong-code", *UNKNOWN) == 1
    out, err = capsys.readouterr()
    for words in (
        "FAILURE jsonrpc.unknown-method",
        "BASE-26",
        f"https://modelcontextprotocol.io/specification/{NEWEST}",
        "expected  error -32601",
        "observed  error -32600",
        "→ #",
        "repeat    (printf",
        "does not conform: 1 failed",
    ):
        assert words in out
    assert f"FAILED     jsonrpc.unknown-method (stdio {NEWEST})" in err
    assert "stored: results/run-" in err


def test_results_go_to_standard_output_and_talk_does_not(capsys: Output) -> None:
    assert judge("none", "--scenario", "ping", "--format", "json") == 0
    out, err = capsys.readouterr()
    assert parse_run(out.encode()).cells
    assert "stdio: " in err and "ok         lifecycle.ping" in err


def test_broken_should_fails_only_when_strict(capsys: Output) -> None:
    definitions = ("--scenario", "tools-definitions")
    assert judge("spaced", *definitions) == 0
    assert "WARNING tools.names" in capsys.readouterr().out
    assert judge("spaced", *definitions, "--strict") == 1


@pytest.mark.parametrize(
    ("entry", "code", "words"),
    [
        ("jsonrpc-unknown-method", 0, "expected by the baseline"),
        ("jsonrpc-*:jsonrpc.unknown-method", 0, "expected by the baseline"),
        ("ping", 1, "stale in the baseline: ping"),
        ("no-such-scenario", 1, "stale in the baseline: no-such-scenario"),
    ],
)
def test_baseline_excuses_what_it_names_and_stale_entries_fail(
    entry: str, code: int, words: str, capsys: Output, tmp_path: Path
) -> None:
    (tmp_path / "known.yaml").write_text(f"server:\n  - jsonrpc-unknown-method\n  - '{entry}'\n", "utf-8")
    assert judge("wrong-code", *UNKNOWN, "--scenario", "ping", "--baseline", "known.yaml") == code
    assert words in capsys.readouterr().out


def test_entry_of_a_scenario_that_is_not_played_is_not_stale(tmp_path: Path) -> None:
    (tmp_path / "known.yaml").write_text("server: [jsonrpc-unknown-method]\n", "utf-8")
    assert judge("none", "--scenario", "ping", "--expected-failures", "known.yaml") == 0


def test_repeated_scenarios_that_differ_are_told(tmp_path: Path, capsys: Output) -> None:
    fault = f"flaky {tmp_path / 'count'}"
    assert judge(fault, *UNKNOWN, "--repeat", "4", "--jobs", "1") == 1
    assert f"flaky: jsonrpc.unknown-method (stdio, {NEWEST})" in (out := capsys.readouterr().out)
    assert "2 passed, 2 failed" in out
    assert [cell.attempt for cell in stored(tmp_path / "results").cells] == [1, 2, 3, 4]
    assert len(list((tmp_path / "results").rglob("*.ndjson"))) == 4


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_order_is_the_same_however_many_run_at_once(jobs: str, capsys: Output) -> None:
    globs = ("--scenario", "lifecycle-*", "--scenario", "jsonrpc-unknown-*", "--scenario", "tools-def*")
    assert judge("none", *globs, "--jobs", jobs, "--format", "json", version=None) == 0
    cells = parse_run(capsys.readouterr().out.encode()).cells
    places = [(cell.scenario, DATES.index(cell.revision)) for cell in cells]
    assert places == sorted(places)
    assert {"lifecycle.ping", "jsonrpc.unknown-method", "tools.definitions"} <= {name for name, _ in places}


def test_no_answer_in_time_ends_and_fails_the_scenario(capsys: Output) -> None:
    assert judge("silent", *UNKNOWN, "--timeout", "0.3") == 1
    assert "no answer to no/such/method within 0.3 s" in capsys.readouterr().out


def test_output_names_the_directory(tmp_path: Path) -> None:
    assert judge("none", "--scenario", "ping", "--output", "deep/er") == 0
    assert stored(tmp_path / "deep" / "er").cells
    assert not (tmp_path / "results").exists()


def test_output_that_cannot_be_written_is_refused_before_anything_starts(
    tmp_path: Path, capsys: Output
) -> None:
    (tmp_path / "taken").write_text("a file", "utf-8")
    assert judge("none", "--output", "taken") == 2
    assert "cannot store results in taken: File exists" in (err := capsys.readouterr().err)
    assert "--output" in err.splitlines()[-1]


def test_all_and_server_url_are_taken_as_the_official_suite_does(capsys: Output) -> None:
    with echoing() as url:
        code = main(["server", "--server-url", url, "--all", "--spec-version", NEWEST])
    assert code in (1, 3)
    assert "lifecycle.ping" in capsys.readouterr().err


def test_credentials_are_sent_and_kept_nowhere(tmp_path: Path, capsys: Output) -> None:
    token, header, query = "tok-4711-bearer", 'quo"ted-0815-header', "que-1234-ry"
    with echoing(required=f"Bearer {token}") as url:
        options = ["--scenario", "ping", "--scenario", "jsonrpc-unknown-method", "--spec-version", NEWEST]
        secrets = ["--bearer", token, "--header", f"X-Secret: {header}"]
        assert main(["server", "--url", f"{url}?key={query}", *secrets, *options]) == 1
    out, err = capsys.readouterr()
    files = [path for path in (tmp_path / "results").rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"run.json", "checks.json", f"trace-http-{NEWEST}.ndjson"}
    for text in (out, err, *(path.read_text("utf-8") for path in files)):
        for secret in (token, header, json.dumps(header)[1:-1], query):
            assert secret not in text
    assert any("[redacted]" in path.read_text("utf-8") for path in files)


def test_closed_door_says_what_to_give(capsys: Output) -> None:
    with echoing(required="Bearer right") as url:
        assert main(["server", "--url", url, "--bearer", "wrong", "--scenario", "ping"]) == 3
    assert (
        "HTTP status 401 (credentials required: use --bearer, --authority or --header)"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_tells_and_keeps_what_is_known(tmp_path: Path, number: signal.Signals) -> None:
    command = f"{warm_python()} {SUBJECT} silent"
    line = [warm_python(), "-m", "assay", "server", "--command", command, "--spec-version", NEWEST]
    line += ["--scenario", "jsonrpc-unknown-method", "--scenario", "lifecycle-ping", "--jobs", "1"]
    pipe = subprocess.PIPE
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(line, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        assert process.stderr is not None
        assert "speaks" in process.stderr.readline()
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "interrupted: " in out
    assert "Traceback" not in err
    run = stored(tmp_path / "results")
    assert run.interrupted
    assert [cell.scenario for cell in run.cells] in ([], ["jsonrpc.unknown-method", "lifecycle.ping"])
