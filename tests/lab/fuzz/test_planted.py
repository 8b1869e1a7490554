"""Planted faults are found and shrunk; a server without a fault passes.

The seeds are chosen so that the search is short.
"""

import json

from assay.lab.fuzz.case import Case, Step
from assay.lab.harness.run.conclusion import Conclusion, conclude
from assay.lab.harness.verdict import Outcome
from tests.lab.fuzz.planted import fuzzed


async def test_crash_on_a_surrogate_is_found_in_one_message() -> None:
    fuzzer, run = await fuzzed("surrogate", seed=5)
    (finding,) = fuzzer.findings
    assert (finding.broken.check, len(finding.case.steps)) == ("fuzz.alive", 1)
    assert b"\\ud800" in finding.case.steps[0].body
    assert conclude(run) is Conclusion.DOES_NOT_CONFORM


async def test_hang_on_an_empty_name_is_found_in_one_message() -> None:
    fuzzer, _ = await fuzzed("empty-name", seed=39)
    (finding,) = fuzzer.findings
    (step,) = finding.case.steps
    assert finding.broken.check == "fuzz.goes-on"
    assert json.loads(step.body)["params"]["name"] == ""


async def test_wrong_id_under_load_is_found_with_the_fewest_requests() -> None:
    fuzzer, _ = await fuzzed("load", seed=4)
    (finding,) = fuzzer.findings
    assert finding.broken.check == "jsonrpc.reply-id"
    assert (finding.case.together, len(finding.case.steps)) == (True, 3)


async def test_healthy_server_passes() -> None:
    _, run = await fuzzed("", seed=1, seconds=1.0)
    (cell,) = run.cells
    assert (cell.scenario, cell.outcome) == ("fuzz", Outcome.PASSED)


async def test_finding_is_a_cell_with_its_trace_and_the_command_to_reproduce_it() -> None:
    case = Case((Step(b'"\\ud800"'),))
    fuzzer, run = await fuzzed("surrogate", seed=1, cases=(case,))
    (cell,) = run.cells
    (check,) = cell.checks
    assert (cell.scenario, cell.outcome) == ("fuzz.alive", Outcome.FAILED)
    assert check.findings[0].reproduce == "command 1"
    assert b'"\\ud800"\n' in [frame.raw for frame in fuzzer.findings[0].trace.frames]
