"""What a developer can omit from a run or claim about a server, and judging again detects."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.certify.verification.procedure import verify
from assay.certify.verification.run_audit import RunAudit
from assay.lab.harness.need import unmet
from assay.lab.harness.reason import stored
from assay.lab.harness.run.run import parse_run
from assay.lab.harness.subject.out_of_band import REGISTRY
from assay.lab.harness.trace.file import dump_trace, read_trace
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.recorder import MAX_FRAMES
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Outcome
from assay.lab.suites import suite_named
from tests.certify import bundles
from tests.certify.bundles import NOW, TRUST, finish_again

RUN = "run/run.json"
replace = msgspec.structs.replace


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundles.make(tmp_path_factory.mktemp("good") / "evidence")


@pytest.fixture
def bundle(good: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(good, tmp_path / "evidence"))


def lied(bundle: Path, change: Callable[[dict[str, Any]], object]) -> list[str]:
    """Edit the run, rebuild and sign everything that depends on it; return the causes of refusal."""
    run = json.loads((bundle / RUN).read_bytes())
    change(run)
    (bundle / RUN).write_text(json.dumps(run))
    named = {cell.get("trace") for cell in run["cells"]}
    for path in (bundle / "run" / "traces").iterdir():
        if f"traces/{path.name}" not in named:
            path.unlink()
    finish_again(bundle)
    assert verify(bundle, TRUST, now=NOW).ok, "hashes and signatures alone do not show it"
    return refusals(bundle)


def refusals(bundle: Path) -> list[str]:
    causes = verify(bundle, TRUST, now=NOW, rejudge=True).refusals
    return [f"{refusal.reason}: {refusal.detail}" for refusal in causes]


def dropped(run: dict[str, Any]) -> None:
    del run["cells"][0]


def excused(cell: dict[str, Any], reason: str) -> None:
    cell.update(outcome="not applicable", checks=[], reason=reason, reason_kind="not-applicable", trace="")


def test_a_chosen_scenario_has_results_wherever_it_applies(bundle: Path) -> None:
    [line] = lied(bundle, dropped)
    assert line.startswith("wrong-run: ")
    assert line.endswith("is missing, although the scenario ran elsewhere")


def test_the_facts_must_support_a_reason_for_not_applicable(bundle: Path) -> None:
    [line] = lied(bundle, lambda run: excused(run["cells"][0], "the server lists no tools"))
    assert "is called not applicable (the server lists no tools), but applies" in line


def twice(run: dict[str, Any]) -> None:
    run["subjects"][0]["facts"] *= 2


def elsewhere(run: dict[str, Any]) -> None:
    run["subjects"][0]["transport"] = "pigeon"


def unheard(run: dict[str, Any]) -> None:
    run["cells"][0]["scenario"] = "mine"


def moved(run: dict[str, Any]) -> None:
    run["cells"][0]["transport"] = "http"


@pytest.mark.parametrize("change", [twice, elsewhere, unheard, moved])
def test_impossible_results(bundle: Path, change: Callable[[dict[str, Any]], None]) -> None:
    assert {line.partition(":")[0] for line in lied(bundle, change)} == {"wrong-run"}


def many(run: dict[str, Any]) -> None:
    run["cells"][0]["checks"][0]["observations"] += 1


def broken_off(run: dict[str, Any]) -> None:
    run["cells"][0].update(broke_off=True, reason="no answer")


def another_time(run: dict[str, Any]) -> None:
    run["cells"][0]["started"] = run["started"]


@pytest.mark.parametrize("change", [many, broken_off, another_time])
def test_claims_that_the_trace_does_not_show(bundle: Path, change: Callable[[dict[str, Any]], None]) -> None:
    assert {line.partition(":")[0] for line in lied(bundle, change)} == {"other-verdict"}


def retold(
    bundle: Path,
    header: Callable[[Header], Header] = lambda header: header,
    frames: Callable[[list[Frame]], list[Frame]] = lambda frames: frames,
) -> list[str]:
    """Change the first trace and give it a valid chain."""
    path = min((bundle / "run" / "traces").iterdir())
    trace = read_trace(path)
    path.write_bytes(dump_trace(Trace(header(trace.header), frames(list(trace.frames)))))
    finish_again(bundle)
    return refusals(bundle)


def renamed(frames: list[Frame]) -> list[Frame]:
    return [
        replace(frame, raw=frame.raw.replace(b'Info":{"name":"', b'Info":{"name":"X')) for frame in frames
    ]


def noted(frames: list[Frame]) -> list[Frame]:
    info = {"label": REGISTRY, "entry": {"name": "another"}}
    last = replace(frames[-1], n=len(frames), sender=Sender.DRIVER, kind=Kind.MARK, raw=b"", info=info)
    return [*frames, last]


def test_all_traces_are_of_one_server(bundle: Path) -> None:
    assert retold(bundle, lambda header: replace(header, subject="python other.py")) == [
        "wrong-run: a trace of another subject: 'python other.py'"
    ]


def test_a_run_is_of_one_server(bundle: Path) -> None:
    def mixed(run: dict[str, Any]) -> None:
        first = run["subjects"][0]
        other = {**first["facts"][0], "server": {"name": "other", "version": "1"}}
        run["subjects"].append({**first, "transport": "http", "facts": [other]})

    assert any("several servers were judged" in line for line in lied(bundle, mixed))


def test_all_traces_show_the_same_server_name(bundle: Path) -> None:
    lines = retold(bundle, frames=renamed)
    assert lines
    assert all(line.startswith("wrong-run: a trace of another server") for line in lines)


def test_traces_use_the_registry_entry_of_the_bundle(bundle: Path) -> None:
    [line] = retold(bundle, frames=noted)
    assert line == "wrong-run: judged with another registry entry than registry/server.json"


def test_traces_refute_false_facts(bundle: Path) -> None:
    """The scenarios of this bundle have no needs, so one with a need is added to its run."""
    run, suite = parse_run((bundle / RUN).read_bytes()), suite_named("marketplace")
    scenario = next(candidate for candidate in suite.scenarios.values() if "resources" in candidate.id)
    facts = run.subjects[0].facts[0]
    facts.capabilities, facts.resources = {}, []
    claimed = replace(
        run.cells[0],
        scenario=scenario.id,
        revision=facts.revision,
        outcome=Outcome.NOT_APPLICABLE,
        **stored(unmet(scenario.needs, facts)),
    )
    audit = RunAudit(replace(run, cells=[claimed]), suite)
    assert list(audit.false_exemptions()) == []
    other_words = replace(claimed, reason="nothing to read")
    assert list(RunAudit(replace(run, cells=[other_words]), suite).false_exemptions()) != []
    assert list(RunAudit(replace(run, cells=[other_words]), suite, closely=False).false_exemptions()) == []
    for path in (bundle / "run" / "traces").iterdir():
        list(audit.add_trace(path.name, read_trace(path), None))
    assert [candidate.reason for candidate in audit.false_exemptions()] == ["wrong-run"]


@pytest.mark.parametrize("role", ["client", "x"])
def test_a_trace_of_a_client_is_refused(bundle: Path, role: str) -> None:
    [line] = retold(bundle, lambda header: replace(header, role=role))
    assert line.startswith("broken-trace: ")


def test_a_trace_longer_than_the_limit_is_refused(bundle: Path) -> None:
    def lengthened(frames: list[Frame]) -> list[Frame]:
        return frames + [replace(frames[-1], n=n) for n in range(len(frames), 2 * MAX_FRAMES + 1)]

    [line] = retold(bundle, frames=lengthened)
    assert line.startswith("broken-trace: ")
