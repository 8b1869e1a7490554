"""Elements of `checks.json` say what was observed, when, and by which requirement."""

import msgspec
import pytest

from assay.lab.harness.check import run_check
from assay.lab.harness.run.check_entry import entry
from assay.lab.harness.verdict import Verdict
from assay.lab.suites import protocol_suite
from tests.lab.runs import cell
from tests.lab.traces import request, result, stdio_trace

SUITE = protocol_suite()
CHECK = "jsonrpc.unknown-method"
CALL = request(1, "no/such/method")
REFUSED = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no such method"}}
REFUSAL = ((">", CALL), ("<", REFUSED))


def test_success_says_what_was_observed_and_when() -> None:
    trace = stdio_trace(*REFUSAL, *REFUSAL)
    (judged,) = run_check(SUITE.checks[CHECK], trace, SUITE.requirements)
    assert (judged.verdict, judged.held) == (Verdict.SUCCESS, {"BASE-26": judged.observations})
    assert judged.at == trace.frames[-1].t
    where = cell("jsonrpc.unknown-method")
    fields = entry(where, judged, SUITE.requirements, {"client": "assay-lab 1"})
    assert fields["timestamp"] == "2000-01-01T00:00:00.003Z"
    rule = SUITE.requirements["BASE-26"].statement
    place = "the scenario jsonrpc.unknown-method: title of jsonrpc.unknown-method"
    assert fields["description"] == f"BASE-26 (implied MUST): {rule}. Judged in {place}"
    details = fields["details"]
    assert details["held"] == judged.held
    assert details["observed"] == ["error -32601"]
    assert details["conversation"] == {"client": "assay-lab 1"}


def test_failure_has_the_time_of_its_first_fault() -> None:
    trace = stdio_trace((">", CALL), ("<", result(1)), *REFUSAL)
    (judged,) = run_check(SUITE.checks[CHECK], trace, SUITE.requirements)
    assert judged.at == trace.frames[1].t
    assert judged.expected == []
    assert "observed" not in entry(cell("jsonrpc.unknown-method"), judged)["details"]


@pytest.mark.parametrize("started", ["", "no time", "9999-12-31T23:59:59.999Z"])
def test_time_that_cannot_be_computed_is_that_of_the_scenario(started: str) -> None:
    trace = stdio_trace(*REFUSAL)
    (judged,) = run_check(SUITE.checks[CHECK], trace, SUITE.requirements)
    where = msgspec.structs.replace(cell("jsonrpc.unknown-method"), started=started)
    late = msgspec.structs.replace(judged, at=3600.0)
    assert entry(where, late)["timestamp"] == started
