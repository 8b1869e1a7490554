"""`assay.lab` as a library: judge servers and clients from code, and follow what happens."""

import asyncio
import shlex
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import assay.lab
from assay.lab import (
    Access,
    ClientOptions,
    Conclusion,
    Golden,
    Interrupted,
    InvalidOptions,
    JudgeOptions,
    LabError,
    Run,
    SubjectNotStarted,
    conclude,
    follow,
    follow_client,
    judge,
    judge_client,
    render,
)
from assay.lab.harness.run.event import CellFinished, CellsPlanned, CellStarted, RunFinished, SubjectKnown
from assay.lab.harness.scripted_server.client import ClientSetup
from assay.lab.stored import find_run, newest_run, rejudge, stored_run
from assay.model.error import AssayError
from assay.revisions.registry import HANDSHAKE
from tests.driving.warm_python import warm_python

NEWEST = HANDSHAKE[-1].date
SUBJECT = Path(__file__).parents[1] / "cli" / "subjects" / "subject.py"
VISITOR = SUBJECT.with_name("visitor.py")
SINGLE = JudgeOptions(scenario=("jsonrpc-unknown-method",), spec_version=(NEWEST,))


def server(fault: str) -> str:
    return shlex.join((warm_python(), str(SUBJECT), fault))


@pytest.mark.parametrize(
    ("fault", "conclusion"), [("none", Conclusion.CONFORMS), ("wrong-code", Conclusion.DOES_NOT_CONFORM)]
)
async def test_judge_returns_the_run(fault: str, conclusion: Conclusion) -> None:
    run = await judge(server(fault), SINGLE)
    assert conclude(run) is conclusion
    assert [cell.scenario for cell in run.cells] == ["jsonrpc.unknown-method"]
    assert conclusion.value in render(run)
    assert msgspec.json.decode(render(run, "json"), type=Run) == run


async def test_nothing_is_written_unless_there_is_an_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    await judge(server("none"), SINGLE)
    assert list(tmp_path.iterdir()) == []
    run = await judge(server("none"), msgspec.structs.replace(SINGLE, output=Path("kept")))
    stored = newest_run(Path("kept"))
    assert stored_run(stored) == run
    assert [cell.outcome for cell in rejudge([stored]).cells] == [cell.outcome for cell in run.cells]
    assert find_run(Path("kept")) == find_run(stored) == stored


async def test_a_run_can_be_followed() -> None:
    kinds = []
    async with follow(server("wrong-code"), SINGLE) as run:
        with pytest.raises(RuntimeError, match="when the events have ended"):
            assert run.result
        async for event in run:
            kinds.append(type(event))
    assert kinds[1:] == [SubjectKnown, CellsPlanned, CellStarted, CellFinished, RunFinished]
    assert conclude(run.result) is Conclusion.DOES_NOT_CONFORM


async def test_leaving_early_stops_the_run_and_keeps_what_is_known() -> None:
    options = JudgeOptions(spec_version=(NEWEST,), jobs=1)
    async with follow(server("none"), options) as run:
        async for event in run:
            if isinstance(event, CellFinished):
                break
    assert run.result.interrupted
    assert conclude(run.result) is Conclusion.INTERRUPTED


async def test_an_interrupted_run_goes_on_to_its_end() -> None:
    async with follow(server("silent"), msgspec.structs.replace(SINGLE, timeout=1000)) as run:
        async for event in run:
            if isinstance(event, CellStarted):
                run.interrupt()
    assert run.result.interrupted


async def test_cancellation_is_not_swallowed() -> None:
    judging = asyncio.create_task(judge(server("silent"), msgspec.structs.replace(SINGLE, timeout=1000)))
    await asyncio.wait({judging}, timeout=0)
    judging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await judging


async def test_a_run_that_is_stopped_at_once_has_no_result() -> None:
    async with follow(server("none"), SINGLE) as run:
        run.interrupt()
        with pytest.raises(Interrupted):
            async for _ in run:
                pass


async def test_a_subject_that_is_not_there_is_an_error_with_a_fix() -> None:
    with pytest.raises(SubjectNotStarted) as failure:
        await judge("no-such-command --flag", SINGLE)
    assert "No such file" in failure.value.problem and "PATH" in failure.value.fix
    assert isinstance(failure.value, AssayError)
    async with follow("no-such-command --flag", SINGLE) as run:
        with pytest.raises(SubjectNotStarted):
            async for _ in run:
                pass
    assert isinstance(failure.value, LabError)


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [
        ("everything", JudgeOptions(suite="no-such"), "no such suite"),
        ("everything", JudgeOptions(suite="client"), "does not judge servers"),
        ("everything", JudgeOptions(scenario=("tools-definition",)), "did you mean tools-definitions?"),
        ("everything", JudgeOptions(scenario=("auth/basic-cimd",)), "assay check --client"),
        ("everything", JudgeOptions(spec_version=("1999",)), "unknown revision"),
        ("everything", JudgeOptions(transport=("pigeon",)), "unknown transport"),
        ("everything", JudgeOptions(access=Access(bearer="token")), "sent to a URL"),
        ("everything", JudgeOptions(golden=Golden(record=Path("golden"))), "none are stored"),
        ("http://x/", JudgeOptions(access=Access(headers={"a\r\nb": "c"})), "not a header"),
    ],
)
def test_options_are_checked_before_anything_starts(target: str, options: JudgeOptions, words: str) -> None:
    with pytest.raises(InvalidOptions) as failure:
        follow(target, options)
    assert words in str(failure.value)


def test_an_official_scenario_selects_its_suite() -> None:
    official = JudgeOptions(scenario=("tools-call-simple-text",))
    assert follow("everything", official).suite.name == "everything"
    assert follow("everything", JudgeOptions(scenario=("tools-definitions",))).suite.name == "protocol"
    assert follow("everything").suite.name == "protocol"


def test_tokens_are_not_shown() -> None:
    assert "secret" not in repr(JudgeOptions(access=Access(bearer="secret", client_secret="secret")))


async def test_judge_client_returns_the_run() -> None:
    options = ClientOptions(scenario=("tools_call",), spec_version=(NEWEST,))
    run = await judge_client([warm_python(), str(VISITOR)], options)
    assert (run.role, conclude(run)) == ("client", Conclusion.CONFORMS)
    with pytest.raises(InvalidOptions, match="no such scenario"):
        await judge_client("true", ClientOptions(scenario=("no-such",)))


async def test_a_function_can_operate_the_client() -> None:
    async def invite(setup: ClientSetup, limit: float) -> None:
        command = [warm_python(), str(VISITOR), setup.url]
        environment = setup.environment
        process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=subprocess.DEVNULL)
        assert await process.wait() == 0

    options = ClientOptions(scenario=("tools_call",), spec_version=(NEWEST,))
    async with follow_client(invite, options) as run:
        async for _ in run:
            pass
    assert conclude(run.result) is Conclusion.CONFORMS


def test_every_public_name_of_the_lab_can_be_imported() -> None:
    assert all(hasattr(assay.lab, name) for name in assay.lab.__all__)
    assert set(assay.lab.__all__) <= set(dir(assay.lab))
    with pytest.raises(AttributeError):
        assert assay.lab.no_such_name


def test_importing_the_lab_loads_none_of_it() -> None:
    code = (
        "import sys, assay.lab, assay.certify; print(*[n for n in sys.modules if n.startswith('assay.lab.')])"
    )
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert outcome.stdout.split() == []
