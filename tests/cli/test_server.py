"""`assay server`: honest about servers that are not there, say nothing, or say no."""

import json
import socket
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.lab.harness.run.run import Run, parse_run
from assay.revisions.registry import HANDSHAKE
from tests.driving.warm_python import warm_python

pytestmark = pytest.mark.usefixtures("warm_servers")

DENIES = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        error = {"code": -32601, "message": "no"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
"""
SILENT = "import sys\nfor line in sys.stdin: pass\n"
DIES = """
import json, sys
message = json.loads(sys.stdin.readline())
if message["method"] == "initialize":
    version = message["params"]["protocolVersion"]
    result = {"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
    sys.stdin.readline()
print("giving up", file=sys.stderr)
sys.exit(3)
"""
FLOODS = """
import sys
while True:
    sys.stdout.write('{"jsonrpc":"2.0","method":"notifications/message","params":{}}' + chr(10))
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def command(tmp_path: Path, source: str) -> str:
    path = tmp_path / "subject.py"
    path.write_text(source, "utf-8")
    return f"{warm_python()} {path}"


def stored(tmp_path: Path) -> Run:
    (path,) = tmp_path.glob("results/run-*/run.json")
    return parse_run(path.read_bytes())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_closed_port_is_a_server_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["server", "--url", f"http://127.0.0.1:{free_port()}/mcp"]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert "Connection refused" in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("line", "words", "fix"),
    [
        ("true", "exited with status 0", "run it by hand"),
        ("/no/such/command", "No such file or directory", "is it installed, and in a directory of PATH?"),
    ],
)
def test_command_that_serves_nothing_did_not_start(
    line: str, words: str, fix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["server", "--command", line]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-2].startswith("assay: error:") and words in err.splitlines()[-2]
    assert err.splitlines()[-1].startswith(f"  {fix}")


def test_server_that_denies_everything_proves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["server", "--command", command(tmp_path, DENIES)]) == 3
    assert "incomplete: the server supports none of the selected revisions" in capsys.readouterr().out
    assert stored(tmp_path).cells == []


def test_server_that_never_answers_proves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["server", "--command", command(tmp_path, SILENT), "--timeout", "0.3"]) == 3
    assert "no answer to initialize within 0.3 s" in capsys.readouterr().err


def test_server_that_dies_after_initialize_fails_for_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["server", "--command", command(tmp_path, DIES)]) == 1
    assert "exited with status 3" in (out := capsys.readouterr().out)
    assert "stderr: giving up" in out
    run = stored(tmp_path)
    assert {cell.outcome for cell in run.cells} == {"failed"}
    failed = {check.id for cell in run.cells for check in cell.checks if check.verdict != "SKIPPED"}
    assert failed == {"robustness.keeps-running"}


@pytest.mark.timeout(60)
def test_server_that_floods_is_cut_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    once = ["--spec-version", HANDSHAKE[-1].date]  # no revision is flooded differently
    assert main(["server", "--command", command(tmp_path, FLOODS), *once]) == 3
    out, err = capsys.readouterr()
    assert "flooded the driver" in out + err
    assert "Traceback" not in err


def test_healthy_server_conforms_and_leaves_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["server", "everything", "--transport", "http", "--scenario", "tools-unknown*"]) == 0
    assert "conforms: 5 passed" in capsys.readouterr().out
    (checks,) = tmp_path.glob("results/server-tools-unknown-name-*/checks.json")
    (first, *_) = json.loads(checks.read_bytes())
    assert first["id"] == "tools.unknown-name"
    assert first["status"] == "SUCCESS"
    assert first["specReferences"][0]["url"].startswith("https://modelcontextprotocol.io/specification/")
    assert first["description"].startswith("TL-19 (")
    assert first["details"]["held"] == {"TL-19": 1, "TL-32": 1}
    assert first["details"]["observations"] == 2
    assert first["details"]["conversation"]["client"].startswith("assay-lab ")
    assert len(list(tmp_path.glob("results/server-tools-unknown-name-*/trace-http-*.ndjson"))) == 5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no server to judge"),
        (["everything", "--url", "http://x/"], "not both"),
        (["everything", "--scenario", "no-such*"], "no such scenario"),
        (["everything", "--scenario", "tools-*", "--scenario", "tols-*"], "no such scenario: tols-*"),
        (["everything", "--seconds", "9"], "--seconds is for --suite fuzz"),
        (["everything", "--seed", "0"], "--seed is for --suite fuzz"),
        (["everything", "--observe", "."], "--observe is for --suite marketplace"),
        (["everything", "--suite", "marketplace", "--observe", "none"], "--observe: none is not a directory"),
        (["everything", "--suite", "marketplace", "--registry", "none"], "cannot read none"),
        (["everything", "--suite", "marketplace", "--otlp", "4318"], "not an address: '4318'"),
        (["everything", "--watch", ".", "--case", "word"], "--case is for --suite fuzz"),
        (["everything", "--spec-version", "yesterday"], "unknown revision"),
        (["everything", "--timeout", "-1"], "--timeout: '-1' is not a number of seconds"),
        (["everything", "--jobs", "0"], "--jobs: '0' is not a whole number from 1"),
        (["everything", "--format", "papyrus"], "unknown format"),
        (["everything", "--baseline", "missing.yaml"], "No such file"),
        (["everything", "--port", "1"], "is an option of `assay serve`"),
        (["--url", "gopher://x/"], "not a URL"),
        (["--command", "'open"], "cannot read the command"),
        (["--command", " "], "the command is empty"),
        (["--url", "http://x/", "--header", "no colon"], "not a header"),
        (["--url", "http://x/", "--header", "bad name: x"], "not a header"),
        (["--url", "http://x/", "--header", "a: b\r\nc: d"], "not a header"),
        (["--url", "http://x/", "--bearer", "two words"], "a bearer token has no spaces"),
        (["--url", "http://me:secret@x/"], "credentials in a URL are not sent"),
        (["--url", "http://x/", "--transport", "stdio"], "stdio has no URL"),
        (["--url", "http://x/", "--transport", "ws"], "is not a URL for ws"),
        (["--url", "ws://x/", "--transport", "http"], "is not a URL for http"),
        (["--command", "server", "--transport", "http"], "a command alone is judged on stdio"),
        (["--command", "server", "--bearer", "token"], "sent to a URL, and there is none"),
        (["everything", "--transport", "http-sse"], "does not serve HTTP+SSE"),
        (["everything", "--all", "--scenario", "ping"], "not both"),
        (["everything", "--suite", "no-such"], "no such suite: no-such"),
        (["everything", "--transport", "pigeon"], "invalid choice"),
    ],
)
def test_wrong_use_is_refused_in_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["server", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_what_lies_beside_the_messages_is_seen_where_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "server.json").write_text("{}")
    evidence = ["--registry", str(tmp_path / "server.json"), "--observe", str(tmp_path)]
    spans = ["--otlp", "127.0.0.1:0", "--scenario", "cap.registry", "--scenario", "cap.unwritable"]
    options = [
        "--suite",
        "marketplace",
        "--spec-version",
        HANDSHAKE[-1].date,
        "-o",
        str(tmp_path / "results"),
    ]
    main(["server", "reference", *options, *evidence, *spans])
    [stored] = (tmp_path / "results").glob("run-*/run.json")
    run = parse_run(stored.read_bytes(), str(stored))
    assert sorted(run.subjects[0].facts[0].out_of_band) == ["disk", "registry", "spans"]
    assert {cell.scenario for cell in run.cells if cell.checks} == {"cap.registry", "cap.unwritable"}


def test_nothing_that_is_played_there_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    on_stdio = ["--transport", "stdio", "--spec-version", HANDSHAKE[-1].date]
    assert (
        main(["server", "everything", "--suite", "everything", "--scenario", "sse-polling", *on_stdio]) == 2
    )
    assert (
        "no selected scenario applies to the revisions that this server supports" in capsys.readouterr().out
    )


def test_results_that_cannot_be_kept_end_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = f"sh -c 'rm -rf results; touch results; exec {warm_python()} -m assay serve everything'"
    assert main(["server", "--command", hostile, "--scenario", "ping"]) == 3
    assert "cannot store results in results" in capsys.readouterr().err
