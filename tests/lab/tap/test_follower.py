"""The judgement beside a tap: both sides, while traces grow, and stored as a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.certify.replay.tapped import read_recording
from assay.lab.error import InvalidOptions
from assay.lab.harness.run.archive import read_run
from assay.lab.harness.trace.frame import Sender
from assay.lab.harness.verdict import Outcome
from assay.lab.stored import compare, rejudge, stored_traces
from assay.lab.tap.follower import Follower, SeenFinding
from tests.lab.tap.traffic import FAULTY_CLIENT, FAULTY_SERVER, OFFER, USUAL, recorded


def findings(directory: Path) -> list[SeenFinding]:
    return list(Follower(directory).step(finish=True).new)


def test_usual_traffic_has_no_finding_on_either_side(tmp_path: Path) -> None:
    status = Follower(recorded(tmp_path)).step(finish=True)

    assert status.new == []
    assert (status.frames, status.lag, status.exchanges, status.done) == (6, 0, 2, True)


def test_a_fault_of_the_server_is_found_once(tmp_path: Path) -> None:
    directory = recorded(tmp_path, FAULTY_SERVER)
    follower = Follower(directory)
    first = follower.step(finish=True)

    assert {finding.side for finding in first.new} == {"server"}
    assert all(finding.trace == "tap-1-stdio.ndjson" and finding.frame == 3 for finding in first.new)
    assert follower.step(finish=True).new == []


def test_a_fault_of_the_client_is_found(tmp_path: Path) -> None:
    sides = {finding.side: finding.requirement for finding in findings(recorded(tmp_path, FAULTY_CLIENT))}

    assert sides == {"client": "BASE-04"}


def test_a_question_that_the_client_refuses_wrongly_is_its_fault(tmp_path: Path) -> None:
    refusal: dict[str, object] = {"id": "r", "error": {"code": -32600, "message": "not supported"}}
    exchange = [(Sender.SUBJECT, {"id": "r", "method": "roots/list"}), (Sender.DRIVER, refusal)]
    sides = {
        (finding.side, finding.requirement) for finding in findings(recorded(tmp_path, [*USUAL, *exchange]))
    }

    assert ("client", "RT-04") in sides
    assert ("server", "LIFE-14") in sides


def test_what_is_not_over_is_judged_so_far(tmp_path: Path) -> None:
    directory = recorded(tmp_path, FAULTY_SERVER, ended=False)

    assert findings(directory)
    run = read_run(directory)
    assert {cell.scenario: cell.broke_off for cell in run.cells} == {"tap-1": True, "tap-1-client": True}


def test_a_growing_trace_is_judged_again_and_its_lag_is_stated(tmp_path: Path) -> None:
    directory = recorded(tmp_path, ended=False)
    follower = Follower(directory)
    assert follower.step().lag == 0

    other = recorded(tmp_path, FAULTY_SERVER)
    (directory / "tap-2-stdio.ndjson").write_bytes((other / "tap-1-stdio.ndjson").read_bytes())
    file = directory / "tap-3-stdio.ndjson"
    file.write_bytes((other / "tap-1-stdio.ndjson").read_bytes())
    assert follower.step().lag == 6  # one of both
    assert follower.step().lag == 0


def test_a_removed_trace_is_no_lag(tmp_path: Path) -> None:
    directory = recorded(tmp_path)
    follower = Follower(directory)
    follower._look()
    (directory / "tap-1-stdio.ndjson").unlink()

    assert follower.step().lag == 0


def test_the_stored_run_is_that_of_judging_again(tmp_path: Path) -> None:
    directory = recorded(tmp_path, FAULTY_SERVER)
    Follower(directory).step(finish=True)
    stored, again = read_run(directory), rejudge([directory])

    outcomes = [(cell.scenario, cell.outcome) for cell in stored.cells]
    assert outcomes == [("tap-1", Outcome.FAILED), ("tap-1-client", Outcome.PASSED)]
    assert outcomes == [(cell.scenario, cell.outcome) for cell in again.cells]
    assert len(stored_traces(directory)) == 1


def test_two_taps_are_compared_by_conversation(tmp_path: Path) -> None:
    before, after = recorded(tmp_path), recorded(tmp_path, FAULTY_SERVER)
    for directory in (before, after):
        Follower(directory).step(finish=True)

    assert compare(before, after).is_worse
    assert not compare(after, before).is_worse


def test_the_agreed_revision_decides_whatever_was_offered(tmp_path: Path) -> None:
    offer = {**OFFER, "protocolVersion": "2025-11-25"}
    messages = [(Sender.DRIVER, {"id": 1, "method": "initialize", "params": offer}), *USUAL[1:]]
    directory = recorded(tmp_path, messages)
    Follower(directory).step(finish=True)

    assert {cell.revision for cell in read_run(directory).cells} == {"2025-06-18"}


def test_silence_is_not_judged(tmp_path: Path) -> None:
    directory = recorded(tmp_path, USUAL[:1])
    Follower(directory).step(finish=True)

    (first, _) = read_run(directory).cells
    assert first.outcome is Outcome.NOT_APPLICABLE
    assert first.reason == "no request was answered"


def test_a_recording_is_a_bundle_for_replay(tmp_path: Path) -> None:
    bundle = read_recording(recorded(tmp_path))

    assert [item.revision for item in bundle.manifest.conversations] == ["2025-06-18"]
    with pytest.raises(InvalidOptions, match="no conversation can be replayed"):
        read_recording(recorded(tmp_path, USUAL[:1]))
