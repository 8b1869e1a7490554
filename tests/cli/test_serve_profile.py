"""`assay serve --profile`: what it puts around any server, and how each slip ends."""

from __future__ import annotations

import json
import subprocess
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from assay.cli.exit_code import ExitCode
from assay.cli.main import main
from assay.cli.options.profile import open_ledger
from assay.signing.keys import generate, write_pair
from tests.driving.warm_python import warm_python

Output = pytest.CaptureFixture[str]
OWN = """
from assay import Server
server = Server("own")

@server.tool
async def echo(message: str) -> str:
    return message
"""
ODD = (
    OWN
    + """
server.tool(name="odd", meta={"dev.assay/retention": {"tier": "for-ever"}})(lambda: None)
"""
)
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
ECHO = {"name": "echo", "arguments": {"message": "x"}}
SIMPLE = {"name": "test_simple_text"}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN)
    Path("odd.py").write_text(ODD)


def call(target: str, *options: str, params: dict[str, Any] = ECHO) -> Any:
    """The summary on the result of one call, by a real process on stdio."""
    requests = [("initialize", INITIALIZE), ("tools/call", params)]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        for number, (method, params) in enumerate(requests)
    ]
    command = [warm_python(), "-m", "assay", "serve", target, *options]
    ended = subprocess.run(
        command, input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return json.loads(ended.stdout.splitlines()[-1])["result"].get("_meta", {}).get("dev.assay/effects")


def test_without_a_profile_nothing_is_told() -> None:
    assert call("own.py") is None


@pytest.mark.parametrize(
    ("target", "name", "params"),
    [("own.py", "intelgraph/2026-11", ECHO), ("everything", "intelgraph/2025-10", SIMPLE)],
)
def test_any_server_can_keep_to_it(target: str, name: str, params: dict[str, Any]) -> None:
    meta = call(target, "--profile", name, "--retention", "short-30d", params=params)
    assert (meta["tool"], meta["retention"]) == (params["name"], "short-30d")


def opened(profile: str, **chosen: Any) -> Any:
    values = {"profile": profile, "ledger": None, "ledger_key": None, "no_ledger": False, **chosen}
    return open_ledger(Namespace(**values), "my server")


def test_the_newest_edition_keeps_a_ledger_in_a_default_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(Path("state").absolute()))
    assert opened("intelgraph") is not None
    assert Path("state/assay/ledger/my-server").is_dir()
    assert opened("intelgraph", no_ledger=True) is opened("intelgraph/2025-10") is None


def test_a_server_runs_without_a_place_for_its_ledger(
    monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(Path("own.py").absolute()))
    assert opened("intelgraph") is None
    assert "assay serve: no ledger is kept: " in capsys.readouterr().err


def test_a_ledger_is_written_and_signed() -> None:
    write_pair(generate(), "dev")
    meta = call("reference", "--profile", "intelgraph", "--ledger", "led", "--ledger-key", "dev.key")
    (segment,) = (path for path in Path("led").glob("*.jsonl") if "checkpoints" not in path.name)
    entries = [json.loads(line) for line in segment.read_bytes().splitlines()]
    (entry,) = (entry for entry in entries if entry["event"] == "tool_invocation")
    assert meta["ledger"] == {"seq": entry["seq"], "entryHash": entry["entryHash"]}
    assert list(Path("led").glob("*checkpoints*"))


@pytest.mark.parametrize(
    ("options", "code", "line"),
    [
        (
            ["--profile", "other"],
            ExitCode.USAGE,
            "unknown profile: other\n  profiles: intelgraph, intelgraph/",
        ),
        (["--ledger", "led"], ExitCode.USAGE, "--ledger is part of a profile\n  add --profile intelgraph"),
        (["--ledger-key", "k"], ExitCode.USAGE, "--ledger-key is part of a profile\n  add --profile"),
        (["--retention", "short-30d"], ExitCode.USAGE, "--retention is part of a profile\n  add --profile"),
        (
            ["--profile", "intelgraph", "--no-ledger", "--ledger-key", "k"],
            ExitCode.USAGE,
            "no ledger is kept with these options\n  give",
        ),
        (["--profile", "intelgraph", "--retention", "x"], ExitCode.USAGE, "invalid choice: 'x' (choose from"),
        (
            ["--profile", "intelgraph", "--ledger", "own.py"],
            ExitCode.NOT_STARTED,
            "cannot write a ledger in own",
        ),
        (
            ["--profile", "intelgraph", "--ledger", "led", "--ledger-key", "no.key"],
            ExitCode.USAGE,
            "cannot read no.key: No such file",
        ),
    ],
)
def test_a_slip_is_told_in_a_line(options: list[str], code: ExitCode, line: str, capsys: Output) -> None:
    assert main(["serve", "reference", *options]) == code
    assert line in capsys.readouterr().err
    assert not Path("led").exists()


def test_a_server_that_cannot_keep_to_it_is_not_served(capsys: Output) -> None:
    assert main(["serve", "odd.py", "--profile", "intelgraph"]) == ExitCode.USAGE
    assert "odd: unknown retention tier: 'for-ever'; use one of short-30d" in capsys.readouterr().err
