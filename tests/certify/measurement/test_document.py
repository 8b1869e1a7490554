"""Measurements: the limits of the profile decide, and what is stored is what was measured."""

import json

import pytest

from assay.certify.measurement.document import (
    MAX_FILE,
    BadMeasurement,
    Measurement,
    as_files,
    judge,
    read,
)
from assay.certify.metrics import signer_named
from assay.certify.profile_list import INTELGRAPH, Limit, shipped
from assay.lab.harness.verdict import Verdict
from assay.signing.keys import generate

STDIO = "BENCH-STDIO-02"
DEMANDS = {demand.id: demand for demand in shipped(INTELGRAPH).demands}
DOCUMENT = f"measurements/{STDIO}.json"


def measured(*, problem: str = "", **figures: float) -> Measurement:
    return Measurement(demand=STDIO, figures=figures, problem=problem, files={"samples.json": b"[1, 2]"})


@pytest.mark.parametrize(
    ("measurement", "status", "reason"),
    [
        (measured(p95_ms=20, error_rate=0), Verdict.SUCCESS,
         "p95_ms 20 (at most 20), error_rate 0 (at most 0.005)"),
        (measured(p95_ms=20.1, error_rate=0), Verdict.FAILURE, "p95_ms is 20.1, not at most 20"),
        (measured(p95_ms=1, error_rate=0.01), Verdict.FAILURE, "error_rate is 0.01, not at most 0.005"),
        (measured(p95_ms=1), Verdict.SKIPPED, "the measurement has no figure error_rate"),
        (measured(), Verdict.SKIPPED, "the measurement has no figure p95_ms, error_rate"),
        (measured(p95_ms=1, error_rate=0, problem="it hung"), Verdict.FAILURE, "it hung"),
    ],
)  # fmt: skip
def test_the_limits_of_the_profile_decide(measurement: Measurement, status: Verdict, reason: str) -> None:
    document = read(as_files(measurement, None)[DOCUMENT], STDIO)
    judged = judge(DEMANDS[STDIO], document)
    assert (judged.status, judged.reason) == (status, reason)


@pytest.mark.parametrize(("value", "holds"), [(0.94, False), (0.95, True), (float("nan"), False)])
def test_a_limit_can_be_a_minimum(value: float, holds: bool) -> None:
    assert Limit("success_rate", at_least=0.95).holds(value) is holds


def test_raw_data_is_stored_beside_the_document_that_names_its_digest() -> None:
    files = as_files(measured(p95_ms=1, error_rate=0), None)
    assert files[f"measurements/{STDIO}/samples.json"] == b"[1, 2]"
    [raw] = json.loads(files[DOCUMENT])["files"]
    assert raw["name"] == "samples.json" and len(raw["sha256"]) == 64


def test_a_harness_signs_benchmarks_and_nothing_else() -> None:
    key = generate()
    signed = as_files(measured(p95_ms=1, error_rate=0), key)[DOCUMENT]
    assert signer_named(signed) == key.public.id
    assert read(signed, STDIO).figures == {"p95_ms": 1, "error_rate": 0}
    replay = Measurement(demand="CONF-EVD-06.replay", figures={"success_rate": 1, "pairs": 2})
    assert signer_named(as_files(replay, key)["measurements/CONF-EVD-06.replay.json"]) is None


@pytest.mark.parametrize(
    "measurement",
    [
        Measurement(demand=STDIO, figures={"p95_ms": float("nan")}),
        Measurement(demand=STDIO, figures={"p95_ms": float("inf")}),
        Measurement(demand=STDIO, figures={}, facts={"method": "x" * 2000}),
        Measurement(demand=STDIO, figures={}, files={"../summary.json": b""}),
        Measurement(demand=STDIO, figures={}, files={"a/b": b""}),
        Measurement(demand=STDIO, figures={}, files={"samples": bytes(MAX_FILE + 1)}),
        Measurement(demand=STDIO, figures={}, files={f"f{number}": b"" for number in range(65)}),
    ],
)
def test_what_a_bundle_cannot_hold_is_refused(measurement: Measurement) -> None:
    with pytest.raises(BadMeasurement):
        as_files(measurement, None)


def test_the_document_of_another_demand_is_refused() -> None:
    data = as_files(measured(p95_ms=1, error_rate=0), None)[DOCUMENT]
    with pytest.raises(BadMeasurement, match="a measurement of BENCH-STDIO-02, not of BENCH-SSE-01"):
        read(data, "BENCH-SSE-01")
