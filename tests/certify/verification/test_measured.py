"""`assay verify --rejudge` computes the figures of measurements from their raw data again."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from assay.certify import metrics
from assay.certify.measurement.document import Measurement, as_files, document_name
from assay.certify.verification.procedure import verify
from assay.lab.load.benchmark import STDIO, figures_of
from assay.lab.load.result import dump_result
from tests.certify import bundles
from tests.lab.load.results import load_result

RESULTS = {"calls": load_result(), "starts": load_result((80.0, 90.0))}
RAW = {f"{name}.json": dump_result(result) for name, result in RESULTS.items()}
FIGURES = figures_of(STDIO, RESULTS)


def refused(directory: Path, claimed: dict[str, float], raw: Mapping[str, bytes] = RAW) -> list[str]:
    """What is wrong with the measurement of a bundle that its developer signed."""
    measurement = Measurement(demand=STDIO, figures=claimed, files=dict(raw))
    files = {**bundles.run_files(), **bundles.supply_chain(), **as_files(measurement, None)}
    files["metrics.json"] = metrics.sign(json.dumps(bundles.RESULTS).encode(), bundles.HARNESS)
    content = bundles.finished(files, bundles.CREATED, bundles.LIFETIME)
    bundle = bundles.make(directory / "evidence", files=content)
    report = verify(bundle, bundles.TRUST, now=bundles.NOW, rejudge=True)
    return [refusal.detail for refusal in report.refusals if refusal.where == document_name(STDIO)]


def test_figures_that_follow_from_the_raw_data_are_accepted(tmp_path: Path) -> None:
    assert refused(tmp_path, FIGURES) == []


@pytest.mark.parametrize(
    ("claimed", "problem"),
    [
        ({**FIGURES, "p95_ms": 1.0}, "p95_ms is 1.0, but its data gives"),
        ({**FIGURES, "p95_ms_50": 1.0}, "p95_ms_50 is 1.0, but its data gives None"),
        ({"p95_ms": FIGURES["p95_ms"]}, "error_rate is None, but its data gives 0"),
    ],
    ids=["other", "invented", "omitted"],
)
def test_other_figures_are_refused(tmp_path: Path, claimed: dict[str, float], problem: str) -> None:
    assert any(detail.startswith(problem) for detail in refused(tmp_path, claimed))


@pytest.mark.parametrize(
    "raw", [{}, {"calls.json": RAW["calls.json"]}, {**RAW, "starts.json": b"{"}], ids=["none", "part", "bad"]
)
def test_figures_without_their_raw_data_are_refused(tmp_path: Path, raw: dict[str, bytes]) -> None:
    assert [detail[:9] for detail in refused(tmp_path, FIGURES, raw)] == ["raw data:"]
