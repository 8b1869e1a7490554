"""Stored runs of format 1 stay readable. The last version that wrote them made `run_version_1.zip`."""

import json
import zipfile
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.lab.harness.reason import Reason, ReasonKind
from assay.lab.harness.run.archive import read_run
from assay.lab.harness.run.run import FORMAT, dump_run, is_current, parse_run
from assay.lab.harness.run.version_1 import reason_of_demand

STORED = Path(__file__).with_name("run_version_1.zip")
NO_PROMPTS = Reason(ReasonKind.NOT_APPLICABLE, "the server lists no prompts")
EFFECTS = Reason(
    ReasonKind.NEEDS_OPTION, "it may change something: allow it with --allow-effects", ("--allow-effects",)
)
UNOBSERVED = Reason(ReasonKind.NOT_OBSERVED, "nothing that it looks for was observed")
NO_ANSWER = Reason(ReasonKind.BROKE_OFF, "no answer to tools/call within 1 s")
INTERRUPTED = Reason(ReasonKind.INTERRUPTED, "interrupted")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    with zipfile.ZipFile(STORED) as archive:
        archive.extractall(tmp_path)
    return tmp_path


@pytest.fixture
def run(results: Path) -> Path:
    return next(results.glob("run-*/run.json"))


def test_reasons_of_scenarios_get_kinds(run: Path) -> None:
    assert json.loads(run.read_bytes())["format"] == 1
    assert {cell.scenario: cell.typed_reason for cell in read_run(run).cells} == {
        "lifecycle.ping": None,
        "prompts.every-prompt": NO_PROMPTS,
        "tools.bad-arguments": UNOBSERVED,
        "tools.declared": None,
        "tools.definitions": None,
        "tools.list-changed": EFFECTS,
        "tools.read-only-calls": NO_ANSWER,
        "tools.unknown-name": NO_ANSWER,
    }


def test_reasons_of_checks_get_kinds(run: Path) -> None:
    checks = [check for cell in read_run(run).cells for check in cell.checks]
    kinds = {(check.reason.partition(":")[0], check.reason_kind) for check in checks}
    assert kinds == {
        ("", None),
        ("not observed", ReasonKind.NOT_OBSERVED),
        ("not observed to the end", ReasonKind.BROKE_OFF),
    }


def test_a_run_is_stored_again_in_todays_format(run: Path) -> None:
    old = run.read_bytes()
    upgraded = parse_run(old)
    assert (upgraded.format, parse_run(dump_run(upgraded))) == (FORMAT, upgraded)
    assert not is_current(old)


def test_an_interrupted_scenario_keeps_its_reason(run: Path) -> None:
    old = json.loads(run.read_bytes())
    old["cells"][0].update(outcome="incomplete", checks=[], reason="interrupted")
    assert parse_run(json.dumps(old).encode()).cells[0].typed_reason == INTERRUPTED


@pytest.mark.parametrize(("command", "code"), [("judge", 3), ("report", 0)])
def test_commands_read_it(run: Path, command: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(run)]) == code
    assert "incomplete: tools.read-only-calls, tools.unknown-name (stdio)" in capsys.readouterr().out


def test_it_does_not_differ_from_itself_in_todays_format(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = tmp_path / "again.json"
    again.write_bytes(dump_run(read_run(run)))
    assert main(["diff", str(run), str(again)]) == 0


@pytest.mark.parametrize(
    ("text", "kind", "options"),
    [
        ("the scenario broke off: gone (stdio, x)", ReasonKind.BROKE_OFF, ()),
        ("the server was not judged on http; -e URL does that", ReasonKind.NOT_SELECTED, ("-e",)),
        ("its scenario is not among those of --scenario", ReasonKind.NOT_SELECTED, ("--scenario",)),
        ("this version of Assay does not measure it", ReasonKind.NO_CHECK, ()),
        ("the bundle is not signed: --key FILE does that", ReasonKind.NEEDS_OPTION, ("--key",)),
        ("no span of a request came", ReasonKind.NOT_OBSERVED, ()),
    ],
)
def test_reasons_of_a_summary_get_kinds(text: str, kind: ReasonKind, options: tuple[str, ...]) -> None:
    assert reason_of_demand(text, applies=True) == Reason(kind, text, options)
    assert reason_of_demand(text, applies=False).kind is ReasonKind.NOT_APPLICABLE
