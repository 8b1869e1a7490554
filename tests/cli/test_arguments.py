"""`assay arguments` writes a file that `assay check --arguments` reads."""

import json
from pathlib import Path

import pytest

from assay.cli.exit_code import ExitCode
from assay.cli.main import main

pytestmark = [pytest.mark.waits, pytest.mark.usefixtures("warm_servers")]

TARGET = ["reference", "--spec-version", "2025-11-25"]


def test_file_has_arguments_for_every_tool_and_is_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "arguments.json"
    assert main(["arguments", *TARGET, "-o", str(path)]) == ExitCode.OK
    tools = json.loads(path.read_text("utf-8"))["tools"]
    assert tools["sum"] and all(isinstance(sets, list) for sets in tools.values())
    assert "never succeeded: fail: This tool fails on purpose" in capsys.readouterr().err
    assert main(["arguments", *TARGET, "-o", str(path)]) == ExitCode.USAGE
    assert "exists" in capsys.readouterr().err
    scenario = ["--scenario", "tools-read-only-calls", "-o", str(tmp_path / "results")]
    assert main(["check", *TARGET, *scenario, "--arguments", str(path)]) == ExitCode.OK


def test_file_of_another_form_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "arguments.json"
    path.write_text("[]", "utf-8")
    assert main(["check", *TARGET, "--arguments", str(path)]) == ExitCode.USAGE
    assert "`assay arguments TARGET` writes such a file" in capsys.readouterr().err


def test_server_that_does_not_start_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arguments", "--", "no-such-program-of-assay"]) == ExitCode.NOT_STARTED
