"""`assay registry`: entries from live servers, checked and compared."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from assay.certify.registry.entry import check
from assay.cli.main import main
from assay.lab.harness.sabotage.protected_server import SCOPES, ProtectedServer
from assay.lab.harness.subject.bearer import USUAL
from assay.lab.harness.subject.registry_entry import profile_block
from assay.lab.harness.subject.subject import Subject, served
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS
from tests.certify.entries import BLOCK, ENTRY, edited

NAMED = ["--name", "com.example/x", "--server-version"]
SERVER = """
import assay

server = assay.Server("notes", description="Keeps notes")

@server.tool
def echo(text: str) -> str:
    return text

@server.prompt(version="1.0.0")
def review(code: str) -> str:
    return "Review " + code
"""


@pytest.fixture
def entry_file(tmp_path: Path) -> Path:
    return put(tmp_path / "server.json", ENTRY)


def put(path: Path, value: Any) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def small(directory: Path) -> str:
    file = directory / "small.py"
    file.write_text(SERVER)
    return str(file)


async def built_at(subject: Subject, *arguments: str) -> int:
    """Start a server, and describe it by its URL."""
    await subject.start()
    try:
        return await asyncio.to_thread(build, ["-e", subject.name, *arguments])
    finally:
        await subject.stop()


def build(arguments: list[str], version: str = "0.1.0") -> int:
    return main(["registry", "build", *arguments, *NAMED, version])


def test_a_target_is_described_on_both_transports(tmp_path: Path) -> None:
    file = tmp_path / "server.json"
    target = f"{small(tmp_path)} --profile intelgraph --no-ledger"
    assert build([target, "-o", str(file), "--manifests", "--heartbeat", "15", "--package", "pypi:x"]) == 0
    entry = json.loads(file.read_text())
    assert check(entry).issues == []
    assert entry["description"] == "Keeps notes"
    block = profile_block(entry)
    assert block["transports"] == ["stdio", "streamable-http"]
    assert block["protocolVersions"] == [revision.date for revision in REVISIONS]
    primed = [revision.date for revision in REVISIONS if revision.http.priming and revision.http.sessions]
    assert block["streaming"] == {"sse": True, "resume": primed, "heartbeatSec": 15.0}
    assert block["jsonrpc"] == {"batch": True}
    assert block["capabilities"]["prompts"]["versions"] == {"review": "1.0.0"}
    assert "auth" not in block
    tools = json.loads((tmp_path / "mcp-tools.json").read_text())
    assert [tool["name"] for tool in tools] == ["echo"]
    assert main(["registry", "diff", str(file), str(file)]) == 0


async def test_a_prompt_that_changed_without_a_version_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts = f"{BLOCK}|capabilities|prompts|versions|review"
    old = put(tmp_path / "old.json", edited({"name": "com.example/x", "version": "0.0.1", prompts: "1.0.0"}))
    subject = served(small(tmp_path), Transport.HTTP, "--profile", "intelgraph", "--no-ledger")
    new = tmp_path / "new.json"
    assert await built_at(subject, "--previous", str(old), "-o", str(new)) == 1
    assert "FAILURE prompts.review: its text changed at version 1.0.0 → 1.0.0" in capsys.readouterr().err
    assert not new.exists()


async def test_a_server_without_the_profile_gets_no_entry(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await built_at(served(small(tmp_path), Transport.HTTP)) == 1
    output = capsys.readouterr()
    assert "prompts.review: has no version and digest in _meta" in output.err
    assert "WARNING /.well-known/mcp-tools: is not published: status 404" in output.err
    assert output.out == ""


async def test_a_protected_server_is_described_with_its_scopes(tmp_path: Path) -> None:
    lock = ProtectedServer("reference", "--profile", "intelgraph", "--no-ledger")
    file = tmp_path / "server.json"
    output = ["-t", lock.tokens.get(USUAL) or "", "--auth-mode", "mtls", "--scope", "extra"]
    try:
        code = await built_at(lock.served(Transport.HTTP), *output, "-o", str(file))
        refused = await built_at(lock.served(Transport.HTTP))
    finally:
        lock.close()
    assert (code, refused) == (0, 3)
    auth = profile_block(json.loads(file.read_text()))["auth"]
    assert auth["modes"] == ["jwt", "mtls"]
    assert {*SCOPES, "extra"} <= {*auth["scopes"]}


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        ([], 2, "no server to judge"),
        (["reference", "-e", "http://localhost:1/mcp"], 2, "give TARGET, or -e and --stdio, not both"),
        (["--stdio", "x", "-t", "abc"], 2, "headers and tokens are sent to a URL"),
        (["--stdio", "x", "--package", "notes"], 2, "not a package: 'notes'"),
        (["--stdio", "x", "--manifests"], 2, "--manifests are written beside -o FILE"),
        (["--stdio", "x", "--resume", "tomorrow"], 2, "tomorrow"),
        (["--stdio", "x", "--previous", "nowhere.json"], 2, "cannot read nowhere.json"),
        (["--stdio", "/no/such/command"], 3, "speaks no revision of MCP"),
        (["--stdio", "true"], 3, "speaks no revision of MCP"),
        (["-e", "http://127.0.0.1:1/mcp"], 4, "http://127.0.0.1:1/mcp"),
    ],
)
def test_what_cannot_be_built(
    arguments: list[str], code: int, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build(arguments) == code
    assert problem in capsys.readouterr().err


def test_a_valid_entry(entry_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["registry", "check", str(entry_file)]) == 0
    assert capsys.readouterr().out == f"{entry_file} is valid\n"


def test_an_entry_that_is_not_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = put(tmp_path / "server.json", edited({"version": "1.x", "packages": []}))
    assert main(["registry", "check", str(file), "--format", "json"]) == 1
    output = json.loads(capsys.readouterr().out)
    assert output["valid"] is False
    wrong = {
        "type": "semantic",
        "path": "version",
        "message": "must be a single version, not '1.x'",
        "severity": "error",
    }
    assert wrong in output["issues"]
    assert main(["registry", "check", str(file)]) == 1
    assert "FAILURE version: must be a single version" in capsys.readouterr().out


def test_a_difference_as_json(tmp_path: Path, entry_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = put(tmp_path / "new" / "server.json", edited({f"{BLOCK}|capabilities|prompts|n": 2}))
    assert main(["registry", "diff", str(entry_file), str(new), "--format", "json"]) == 1
    output = json.loads(capsys.readouterr().out)
    assert (output["acceptable"], output["changes"][0]["path"]) == (False, "version")


def test_manifests_beside_the_entries_are_compared(
    tmp_path: Path, entry_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = put(tmp_path / "new" / "server.json", edited({"version": "1.3.0"}))
    put(entry_file.with_name("mcp-tools.json"), [{"name": "a"}, {"name": "b"}])
    put(new.with_name("mcp-tools.json"), [{"name": "a"}])
    assert main(["registry", "diff", str(entry_file), str(new)]) == 0
    assert "WARNING tools.b: was removed: that requires a major version" in capsys.readouterr().out
    put(new.with_name("mcp-tools.json"), [{"name": 1}])
    assert main(["registry", "diff", str(entry_file), str(new)]) == 2
    assert "mcp-tools.json is not a manifest" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "problem"),
    [(None, "cannot read"), ("{", "not JSON"), ("[]", "must be an object"), ("{}", "is missing")],
)
def test_only_entries_are_compared(
    content: str | None, problem: str, entry_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = entry_file.with_name("other.json")
    if content is not None:
        other.write_text(content)
    assert main(["registry", "diff", str(entry_file), str(other)]) == 2
    assert problem in capsys.readouterr().err
