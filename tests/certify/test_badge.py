"""The badge: a view of the summary that never overstates it."""

import json

import pytest

from assay.certify import badge, evidence
from assay.certify.summary import encode, summarise
from assay.lab.harness.run.run import Run
from assay.lab.harness.verdict import Verdict
from tests.certify.runs import CONTEXT, FRAMING, IDS, PROFILE, cell, checked, files, healthy, run
from tests.certify.test_summary import JUDGED, RESULTS

SEED = {"server", "version", "checks", "latency", "sandbox", "replay", "generatedAt"}


def of(stored_run: Run, **more: bytes) -> bytes:
    return encode(summarise({**files(stored_run), **more}, CONTEXT, JUDGED, {}))


def everything() -> Run:
    names = [demand.id for demand in PROFILE.demands if demand.by == "traces"]
    both = [
        cell(*(checked(name, Verdict.SUCCESS) for name in names), transport=transport)
        for transport in ("stdio", "http")
    ]
    return run(*both, transports=("stdio", "http"))


LATENCIES = {"sse.p95_ms", "coldstart.p95_ms"}
"""Those of the marketplace."""


def test_it_has_the_keys_of_the_marketplace() -> None:
    document = json.loads(badge.badge(of(healthy())))
    assert document.keys() >= SEED
    assert document["checks"].keys() == badge.CHECKS.keys()
    assert document["latency"].keys() == {*LATENCIES, "http.p95_ms", "stdio.p95_ms"}


def test_unmeasured_values_are_missing_or_null() -> None:
    document = json.loads(badge.badge(of(healthy())))
    assert document["checks"]["transport.sse.resume"] == "missing"
    assert document["checks"]["discovery.manifests"] == "missing"
    assert document["checks"]["jsonrpc.positive"] == "pass"
    assert set(document["latency"].values()) == {None}
    assert document["replay"] == {"success_rate": None}
    assert document["metricsSource"] is None


def test_a_check_passes_only_if_all_its_demands_are_measured() -> None:
    document = json.loads(badge.badge(of(run(cell(checked(IDS, Verdict.SUCCESS))))))
    assert document["checks"]["jsonrpc.positive"] == "missing"


def test_one_failure_is_a_failure() -> None:
    document = json.loads(badge.badge(of(run(cell(checked(IDS, Verdict.FAILURE))))))
    assert document["checks"]["jsonrpc.positive"] == "fail"


def test_all_checks_pass_if_all_demands_are_met() -> None:
    assert set(json.loads(badge.badge(of(everything())))["checks"].values()) == {"pass"}


def test_metrics_come_with_their_source() -> None:
    document = json.loads(badge.badge(of(healthy(), **{"metrics.json": json.dumps(RESULTS).encode()})))
    figures = {name: value for name, value in document["latency"].items() if name in LATENCIES}
    assert figures == {"sse.p95_ms": 12.5, "coldstart.p95_ms": None}
    assert document["metricsSource"] == "self-reported"


def test_a_badge_depends_on_the_summary_alone() -> None:
    first, second = of(healthy()), of(run(cell(checked(FRAMING, Verdict.SUCCESS))))
    assert badge.badge(first) == badge.badge(first)
    assert badge.badge(first) != badge.badge(second)
    assert badge.shields(first) != badge.shields(second)


@pytest.mark.parametrize(
    ("stored_run", "colour", "word"),
    [
        (healthy(), "yellow", "not measured"),
        (run(cell(checked(IDS, Verdict.FAILURE))), "red", "1/2"),
        (run(), "lightgrey", "not measured"),
    ],
)
def test_a_shield_is_green_only_if_all_demands_are_met(stored_run: Run, colour: str, word: str) -> None:
    document = json.loads(badge.shields(of(stored_run)))
    assert (document["schemaVersion"], document["color"]) == (1, colour)
    assert word in document["message"]


def test_a_shield_shows_a_missing_signature() -> None:
    import msgspec

    unsigned = msgspec.structs.replace(CONTEXT, developer=None)
    judged = {**JUDGED, evidence.SIGNATURE: evidence.not_measured(evidence.NO_KEY)}
    document = json.loads(badge.shields(encode(summarise(files(everything()), unsigned, judged, {}))))
    assert document["color"] == "lightgrey"
    assert document["message"].endswith("unsigned")
