"""`assay prove` and `assay list --saboteurs`: who breaks what, and who is caught."""

import pytest

from assay.cli.main import main
from assay.lab.harness.sabotage import proof
from assay.lab.harness.sabotage.trial import Trial, TrialResult
from assay.lab.harness.transport import Transport
from assay.lab.suites import protocol_suite
from assay.revisions.registry import HANDSHAKE, REVISIONS

pytestmark = pytest.mark.waits

Output = pytest.CaptureFixture[str]
SABOTEURS = protocol_suite().saboteurs
BANNER = SABOTEURS["framing.banner"]


def test_saboteurs_that_are_all_caught_prove_the_checks(capsys: Output) -> None:
    assert main(["prove", "framing.banner", "jsonrpc-id-as-text"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["framing", "jsonrpc", "all"]
    assert all(line.endswith("trials caught: 100%") for line in lines)


def test_one_that_gets_away_is_named_and_fails(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    trial = Trial(BANNER, Transport.STDIO, HANDSHAKE[-1], ())

    async def tried(*arguments: object, quick: bool) -> list[TrialResult]:
        return [TrialResult(trial, ("a.check",)), TrialResult(trial, (), ("other.check:XX-01",))]

    monkeypatch.setattr(proof, "run_trials", tried)
    assert main(["prove", "framing.*"]) == 1
    away, area, _ = capsys.readouterr().out.splitlines()
    assert away.startswith("framing.banner on stdio") and "found instead: other.check:XX-01" in away
    assert area == "framing          1 saboteurs, 1 of 2 trials caught: 50%"


def test_a_check_that_catches_no_saboteur_of_its_suite_is_named_and_fails(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = Trial(BANNER, Transport.STDIO, HANDSHAKE[-1], ())
    catching = [name for check in protocol_suite().checks.values() for name in check.results]
    left_out = catching.pop()

    async def tried(*arguments: object, quick: bool) -> list[TrialResult]:
        return [TrialResult(trial, tuple(catching))]

    monkeypatch.setattr(proof, "run_trials", tried)
    assert main(["prove"]) == 1
    assert capsys.readouterr().out.startswith(f"{left_out}: no saboteur shows that it can fail\n")
    assert main(["prove", "framing.*"]) == 0


def test_a_quick_proof_runs_each_saboteur_once(capsys: Output) -> None:
    counts = []
    for options in (), ("--quick",):
        assert main(["prove", "jsonrpc.id-as-text", *options]) == 0
        counts.append(capsys.readouterr().out.splitlines()[-1].split()[3])
    assert counts == [str(2 * len(REVISIONS)), "1"]  # over stdio and HTTP


def test_unknown_saboteur_is_a_mistake(capsys: Output) -> None:
    assert main(["prove", "no.such"]) == 2
    assert "no such saboteur: no.such" in capsys.readouterr().err


def test_unknown_saboteur_beside_a_known_one_is_a_mistake(capsys: Output) -> None:
    assert main(["prove", "tools.undescribed", "no.such", "--suite", "everything"]) == 2
    errors = capsys.readouterr().err
    assert "no such saboteur: no.such\n" in errors
    assert "`assay list --saboteurs --suite everything` shows all" in errors


def test_every_saboteur_is_listed_with_what_it_breaks(capsys: Output) -> None:
    assert main(["list", "--saboteurs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for saboteur in SABOTEURS.values():
        assert any(line.split()[:2] == [saboteur.id, saboteur.breaks] for line in lines)
    assert lines[-1].split()[:2] == ["all", str(len(SABOTEURS))]


def test_line_of_a_finding_shows_the_fault_again(capsys: Output) -> None:
    assert main(["prove", "--repeat", "jsonrpc.id-as-text", "lifecycle.pong"]) == 0
    assert capsys.readouterr().out.startswith("4 of 4 lines showed the fault (")
