"""The badge: a view of the summary, in which nothing is better than it is."""

import json

import pytest

from assay.certify import badge, evidence
from assay.certify.summary import encode, summarise
from assay.lab.harness.run.run import Run
from assay.lab.harness.verdict import Verdict
from tests.certify.runs import FRAMING, IDS, OCCASION, PROFILE, cell, checked, files, healthy, run
from tests.certify.test_summary import RESULTS, SHOWN

SEED = {"server", "version", "checks", "latency", "sandbox", "replay", "generatedAt"}


def of(found: Run, **more: bytes) -> bytes:
    return encode(summarise({**files(found), **more}, OCCASION, SHOWN, {}))


def everything() -> Run:
    names = [one.id for one in PROFILE.demands if one.by == "traces"]
    both = [
        cell(*(checked(name, Verdict.SUCCESS) for name in names), transport=transport)
        for transport in ("stdio", "http")
    ]
    return run(*both, transports=("stdio", "http"))


def test_it_has_the_keys_of_the_marketplace() -> None:
    told = json.loads(badge.badge(of(healthy())))
    assert told.keys() >= SEED
    assert told["checks"].keys() == badge.CHECKS.keys()
    assert told["latency"].keys() == {"sse.p95_ms", "coldstart.p95_ms"}


def test_what_was_not_measured_is_missing_or_null() -> None:
    told = json.loads(badge.badge(of(healthy())))
    assert told["checks"]["transport.sse.resume"] == "missing"
    assert told["checks"]["discovery.manifests"] == "missing"
    assert told["checks"]["jsonrpc.positive"] == "pass"
    assert set(told["latency"].values()) == {None}
    assert told["replay"] == {"success_rate": None}
    assert told["metricsSource"] is None


def test_all_that_it_stands_for_must_be_measured_to_pass() -> None:
    told = json.loads(badge.badge(of(run(cell(checked(IDS, Verdict.SUCCESS))))))
    assert told["checks"]["jsonrpc.positive"] == "missing"


def test_one_failure_is_a_failure() -> None:
    told = json.loads(badge.badge(of(run(cell(checked(IDS, Verdict.FAILURE))))))
    assert told["checks"]["jsonrpc.positive"] == "fail"


def test_all_pass_where_all_is_seen() -> None:
    assert set(json.loads(badge.badge(of(everything())))["checks"].values()) == {"pass"}


def test_figures_come_with_who_says_so() -> None:
    told = json.loads(badge.badge(of(healthy(), **{"metrics.json": json.dumps(RESULTS).encode()})))
    assert told["latency"] == {"sse.p95_ms": 12.5, "coldstart.p95_ms": None}
    assert told["metricsSource"] == "self-reported"


def test_the_same_summary_gives_the_same_badge_and_another_one_another() -> None:
    one, other = of(healthy()), of(run(cell(checked(FRAMING, Verdict.SUCCESS))))
    assert badge.badge(one) == badge.badge(one)
    assert badge.badge(one) != badge.badge(other)
    assert badge.shields(one) != badge.shields(other)


@pytest.mark.parametrize(
    ("found", "colour", "word"),
    [
        (healthy(), "yellow", "not measured"),
        (run(cell(checked(IDS, Verdict.FAILURE))), "red", "1/2"),
        (run(), "lightgrey", "not measured"),
    ],
)
def test_a_shield_is_green_for_nothing_less_than_all(found: Run, colour: str, word: str) -> None:
    told = json.loads(badge.shields(of(found)))
    assert (told["schemaVersion"], told["color"]) == (1, colour)
    assert word in told["message"]


def test_a_shield_says_that_nobody_signed() -> None:
    import msgspec

    unsigned = msgspec.structs.replace(OCCASION, developer=None)
    shown = {**SHOWN, evidence.SIGNATURE: evidence.not_measured(evidence.NO_KEY)}
    told = json.loads(badge.shields(encode(summarise(files(everything()), unsigned, shown, {}))))
    assert told["color"] == "lightgrey"
    assert told["message"].endswith("unsigned")
