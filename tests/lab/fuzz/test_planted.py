"""Planted faults are found and made as small as they can be; a server without one is left in peace.

Seeds are chosen so that the fault comes early; with others it takes longer.
"""

import json

from assay.lab.fuzz.case import Case, Step
from assay.lab.harness.run.conclusion import Conclusion, conclude
from assay.lab.harness.verdict import Outcome
from tests.lab.fuzz.planted import fuzzed


async def test_a_crash_on_a_surrogate_is_found_in_one_message() -> None:
    fuzzer, run = await fuzzed("surrogate", seed=5)
    (found,) = fuzzer.found
    assert (found.broken.check, len(found.case.steps)) == ("fuzz.alive", 1)
    assert b"\\ud800" in found.case.steps[0].body
    assert conclude(run) is Conclusion.DOES_NOT_CONFORM


async def test_a_hang_on_an_empty_name_is_found_in_one_message() -> None:
    fuzzer, _ = await fuzzed("empty-name", seed=39)
    (found,) = fuzzer.found
    (step,) = found.case.steps
    assert found.broken.check == "fuzz.goes-on"
    assert json.loads(step.body)["params"]["name"] == ""


async def test_a_wrong_id_under_load_is_found_with_no_more_load_than_it_takes() -> None:
    fuzzer, _ = await fuzzed("load", seed=4)
    (found,) = fuzzer.found
    assert found.broken.check == "jsonrpc.reply-id"
    assert (found.case.together, len(found.case.steps)) == (True, 3)


async def test_a_healthy_server_passes_what_was_tried() -> None:
    _, run = await fuzzed("", seed=1, seconds=1.0)
    (cell,) = run.cells
    assert (cell.scenario, cell.outcome) == ("fuzz", Outcome.PASSED)


async def test_a_finding_is_a_cell_with_its_trace_and_the_line_that_shows_it_again() -> None:
    # A crash that needs no search: the case is given.
    case = Case((Step(b'"\\ud800"'),))
    fuzzer, run = await fuzzed("surrogate", seed=1, cases=(case,))
    (cell,) = run.cells
    (check,) = cell.checks
    assert (cell.scenario, cell.outcome) == ("fuzz.alive", Outcome.FAILED)
    assert check.findings[0].reproduce == "again 1"
    assert b'"\\ud800"\n' in [frame.raw for frame in fuzzer.found[0].trace.frames]
