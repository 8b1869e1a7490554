"""`assay certify`: from a server to signed evidence."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.revisions.registry import HANDSHAKE
from assay.signing.keys import generate, write_pair
from tests.driving.warm_python import warm_python

pytestmark = pytest.mark.waits

Output = pytest.CaptureFixture[str]
NAMED = ["--server", "x/reference", "--server-version", "1.0"]
# What the core demands of stdio take.
CORE = ["jrpc.*", "negatives.*", "tpt.stdio-framing", "tpt.stdio-lifecycle"]
QUICK = [
    *("--spec-version", HANDSHAKE[-1].date, "--jobs", "4"),
    *(word for name in CORE for word in ("--scenario", name)),
]
EXPORT = {"id": "GHSA-1", "modified": "2029-01-01T00:00:00Z", "affected": []}
RESULTS = {"runs": [{"server": "x/reference", "metrics": {"cold_start_ms": {"p95": 120}}}]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with what a developer has."""
    write_pair(generate(), str(tmp_path / "dev"))
    (tmp_path / "osv.json").write_text(json.dumps(EXPORT))
    (tmp_path / "results.json").write_text(json.dumps(RESULTS))
    (tmp_path / "wheel").write_bytes(b"a wheel")
    return tmp_path


def served() -> str:
    return f"{warm_python()} -m assay serve reference --profile intelgraph --no-ledger"


def test_a_server_comes_out_with_evidence_that_verifies(folder: Path, capsys: Output) -> None:
    bundle, badge = folder / "evidence", folder / "badge.json"
    options = ["--stdio", served(), "--out", str(bundle), "--key", str(folder / "dev.key"), *QUICK]
    extras = ["--osv", str(folder / "osv.json"), "--waive", "CVE-0", "--artifact", str(folder / "wheel")]
    figures = ["--metrics", str(folder / "results.json"), "--badge-out", str(badge)]

    code = main(["certify", *options, *extras, *figures, *NAMED])

    output = capsys.readouterr()
    summary = json.loads(output.out)
    assert code == 3, output.err
    assert summary["conclusion"] == "incomplete"
    assert summary["summary"]["failed"] == 0
    assert {check["name"] for check in summary["checks"] if check["status"] == "WARNING"} <= {
        "CONF-EVD-06.vulnerabilities"
    }
    assert "self-attested" in output.err
    assert "--waive CVE-0: no vulnerability of that name was found" in output.err
    assert badge.read_bytes() == (bundle / "badge.json").read_bytes()
    assert json.loads(badge.read_bytes())["latency"]["coldstart.p95_ms"] == 120
    assert (bundle / "summary.json").read_text() == output.out
    assert {"sbom.cdx.json", "vulnerabilities.json", "metrics.json", "report.html", "report.md"} <= {
        path.name for path in bundle.iterdir()
    }
    trust = ["--trust", str(folder / "dev.pub"), "--artifact", str(folder / "wheel")]
    assert main(["verify", str(bundle), *trust]) == 0


def test_a_server_that_claims_nothing_of_the_profile_fails_and_is_told_where(capsys: Output) -> None:
    chosen = ["--scenario", "cap.prompts", "--spec-version", HANDSHAKE[-1].date, "--quiet"]
    code = main(["certify", "--stdio", f"{warm_python()} -m assay serve everything", *chosen, *NAMED])

    output = capsys.readouterr()
    failed = [check for check in json.loads(output.out)["checks"] if check["status"] == "FAILURE"]
    assert code == 1
    assert "CONF-CAP-03.prompts.version" in {check["id"] for check in failed}
    assert all(summary["frames"] for check in failed for summary in check["findings"])
    assert output.err == ""


def test_too_little_is_no_success(capsys: Output) -> None:
    chosen = ["--scenario", "jrpc.ids", "--spec-version", HANDSHAKE[-1].date]
    assert main(["certify", "--stdio", served(), *chosen, *NAMED]) == 3
    output = capsys.readouterr()
    assert json.loads(output.out)["conclusion"] == "incomplete"
    assert "its scenario is not selected by --scenario" in output.err
    assert "no bundle was written" in output.err


def test_a_server_that_is_not_there(capsys: Output) -> None:
    assert main(["certify", "--stdio", "no-such-command", *NAMED]) == 4
    assert main(["certify", "-e", "http://127.0.0.1:9/mcp", *NAMED]) == 4
    assert capsys.readouterr().out == ""


DYING = """\
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        about = {"serverInfo": {"name": "x", "version": "1"}, "capabilities": {"tools": {}}}
        result = {"protocolVersion": asked["params"]["protocolVersion"], **about}
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": result}
        print(json.dumps(answer), flush=True)
    elif "id" in asked:
        sys.exit(3)
"""


def test_a_server_that_shows_nothing_of_itself_is_told_as_that(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "dying.py").write_text(DYING)
    options = ["--spec-version", HANDSHAKE[-1].date, "--out", str(tmp_path / "evidence")]
    assert main(["certify", "--stdio", f"{warm_python()} {tmp_path / 'dying.py'}", *options, *NAMED]) == 3
    output = capsys.readouterr()
    assert "speaks no revision of MCP that was asked for: " in output.err
    assert output.out == "" and not (tmp_path / "evidence").exists()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "no server to judge"),
        (["reference", "-e", "http://localhost:1/mcp"], "not both"),
        (["-e", "ftp://x"], "ftp://x"),
        (["--stdio", "'"], "cannot read the command"),
        (["--stdio", "x", "-t", "T"], "sent to a URL"),
        (
            ["-e", "http://localhost:1/mcp", "--client-cert", "c.pem"],
            "certificates are for a server on https://",
        ),
        (
            ["--stdio", "x", "--profile", "other"],
            "unknown profile: other; choose one of intelgraph/2025-10, ",
        ),
        (["-e", "http://localhost:1/mcp", "--scope", "stdio"], "for servers without another transport"),
        (["--stdio", "x", "--key", "none.key"], "none is written"),
        (["--stdio", "x", "--out", "new", "--key", "none.key"], "cannot read none.key"),
        (["--stdio", "x", "--metrics", "none.json"], "cannot read none.json"),
        (["--stdio", "x", "--harness-key", "h.key"], "--harness-key signs benchmarks, and there are none"),
        (["--stdio", "x", "--waive", "A"], "--waive is about --osv"),
        (["--stdio", "x", "--osv", "none"], "none is neither a file nor a directory"),
        (["--stdio", "x", "--osv", "pyproject.toml"], "pyproject.toml contains no OSV record"),
        (["--stdio", "x", "--python", "none"], "cannot start none"),
        (["--stdio", "x", "--observe", "none"], "--observe: none is not a directory"),
        (["--stdio", "x", "--out", "/proc/evidence"], "cannot write /proc/evidence"),
        (["--stdio", "x", "--badge-out", "/dev/null/badge.json"], "cannot write /dev/null/badge.json"),
        (["--stdio", "x", "--stdio", "y"], "--stdio is given twice"),
        (["-e", "localhost:3000/mcp"], "write it as http://localhost:3000/mcp"),
        (["--stdio", "x", "--registry", "none.json"], "cannot read none.json"),
        (["--stdio", "x", "--artifact", "none.whl"], "cannot read none.whl"),
        (["--stdio", "x", "--otlp", "4318"], "not an address: '4318'"),
        (["--stdio", "x", "--spec-version", "today"], "unknown revision: today"),
        (["--stdio", "x", "--scenario", "nope"], "no such scenario: nope"),
        (["--stdio", "x", "--lifetime", "soon"], "not a length of time"),
        (["--stdio", "x", "--server", " "], "--server is not a name"),
    ],
)
def test_mistakes_are_told_before_anything_is_judged(
    options: list[str], problem: str, capsys: Output
) -> None:
    assert main(["certify", *NAMED, *options]) == 2
    output = capsys.readouterr()
    assert problem in output.err
    assert output.out == ""


def test_server_is_called_what_it_calls_itself_unless_it_is_named(capsys: Output) -> None:
    chosen = ["--scenario", "cap.prompts", "--spec-version", HANDSHAKE[-1].date, "--quiet"]
    main(["certify", "--stdio", served(), "--profile", "intelgraph/2025-10", *chosen])
    server = json.loads(capsys.readouterr().out)["server"]
    assert (server["name"], server["version"]) == ("RefMCP-TestServer", "1.0.0")


def test_server_without_a_name_has_to_be_given_one(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "nameless.py").write_text("from assay import Server\nserver = Server(' ', '1')\n")
    command = f"{warm_python()} -m assay serve {tmp_path}/nameless.py"
    options = ["--scenario", "jrpc.ids", "--spec-version", HANDSHAKE[-1].date, "--quiet"]
    assert main(["certify", "--stdio", command, *options]) == 3
    output = capsys.readouterr()
    assert "the server reports no name" in output.err
    assert "--server NAME" in output.err
    assert output.out == ""


def test_metrics_take_the_name_of_the_server(folder: Path, capsys: Output) -> None:
    assert main(["certify", "--stdio", "x", "--metrics", str(folder / "results.json")]) == 2
    assert "add --server NAME" in capsys.readouterr().err


def test_metrics_of_another_server_are_no_metrics_of_this_one(folder: Path, capsys: Output) -> None:
    options = ["--server", "other", "--server-version", "1", "--metrics", str(folder / "results.json")]
    assert main(["certify", "--stdio", "x", *options]) == 2
    assert "results.json: no run of the server other, only of x/reference" in capsys.readouterr().err


def test_a_server_with_runs_on_several_platforms_needs_one_of_them(folder: Path, capsys: Output) -> None:
    file = folder / "results.json"
    [run] = json.loads(file.read_text("utf-8"))["runs"]
    several = {"runs": [{**run, "platform": name} for name in ("theirs", "ours")]}
    file.write_text(json.dumps(several), "utf-8")
    options = ["--server", "x/reference", "--server-version", "1", "--metrics", str(file)]
    assert main(["certify", "--stdio", "x", *options]) == 2
    output = capsys.readouterr().err
    assert "2 runs of x/reference, on ours, theirs" in output
    assert "--platform" in output


def test_metrics_that_nobody_signed_are_not_said_to_be_of_a_harness(folder: Path, capsys: Output) -> None:
    options = ["--metrics", str(folder / "results.json"), "--trust-harness", str(folder / "dev.pub")]
    assert main(["certify", *NAMED, "--stdio", "x", *options]) == 2
    assert "results.json is not signed" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "text"), [("metrics", "[]"), ("registry", "[]"), ("registry", "no JSON")])
def test_files_that_are_something_else(name: str, text: str, tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "given").write_text(text)
    assert main(["certify", *NAMED, "--stdio", "x", f"--{name}", str(tmp_path / "given")]) == 2
    assert "given" in capsys.readouterr().err


def test_a_directory_with_something_in_it_is_left_alone(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "mine").write_text("x")
    assert main(["certify", *NAMED, "--stdio", "x", "--out", str(tmp_path), "--force"]) == 2
    assert "not part of a bundle, such as mine" in capsys.readouterr().err
    assert (tmp_path / "mine").read_text() == "x"


def test_an_interrupt_ends_it_before_the_next_server(folder: Path) -> None:
    stops = folder / "stops.py"
    stops.write_text("import os, signal, sys\nos.kill(os.getppid(), signal.SIGINT)\nsys.stdin.read()\n")
    with socket.create_server(("127.0.0.1", 0)) as other:
        url = f"http://127.0.0.1:{other.getsockname()[1]}/mcp"
        options = ["--stdio", f"{sys.executable} {stops}", "-e", url, "--out", str(folder / "evidence")]
        command = [sys.executable, "-m", "assay", "certify", *options, *QUICK, *NAMED]

        done = subprocess.run(command, capture_output=True, timeout=60, check=False)

        other.setblocking(False)
        assert (done.returncode, b"interrupted: nothing was written" in done.stderr) == (130, True)
        with pytest.raises(BlockingIOError):
            other.accept()
    assert not (folder / "evidence").exists()
