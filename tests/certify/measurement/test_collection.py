"""Providers are run for the demands of the profile within the scope."""

from collections.abc import Sequence
from typing import Any

import pytest

from assay.certify.measurement import Measurement, MeasurementContext, NotMeasured, Provider
from assay.certify.measurement import collection as collections
from assay.certify.measurement.collection import Collection
from assay.certify.measurement.provider import Preparation, Words
from assay.certify.options import CertifyOptions
from assay.certify.profile_list import INTELGRAPH, shipped
from assay.certify.providers import providers
from assay.lab.access import Credentials
from assay.lab.error import CannotJudge
from assay.lab.harness.reason import Reason, ReasonKind
from assay.lab.harness.verdict import Verdict
from assay.lab.options import Access
from tests.certify.runs import run

PROFILE = shipped(INTELGRAPH)
STDIO, SSE, OTHER = "BENCH-STDIO-02", "BENCH-SSE-01", "BENCH-OTHER-99"
WHY = Reason(ReasonKind.NEEDS_OPTION, "add --bench", ("--bench",))


class Bench(Provider):
    demands = (STDIO, SSE, OTHER)

    def __init__(self) -> None:
        self.calls: list[Any] = []

    async def prepare(self, preparation: Preparation) -> None:
        self.calls.append(sorted(preparation.scope))

    def wrap(self, words: Words, options: CertifyOptions) -> Words:
        return ("wrapper", *words)

    async def measure(self, context: MeasurementContext) -> Sequence[Measurement | NotMeasured]:
        self.calls += [sorted(context.demands), context.wrap(("server",)), list(context.scratch.iterdir())]
        good = Measurement(demand=STDIO, figures={"p95_ms": 1.5, "error_rate": 0})
        return [good, NotMeasured(SSE, WHY), Measurement(demand=OTHER, figures={})]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    provider = Bench()
    monkeypatch.setattr(collections, "providers", lambda: (provider,))
    return provider


async def collected(scope: set[str]) -> collections.Collected:
    collection = Collection(PROFILE, (), CertifyOptions(), frozenset(scope))
    await collection.prepare()
    return await collection.measure(run(), Credentials(Access(), None), {}, {}, None)


async def test_results_become_evidence_and_files(bench: Bench) -> None:
    result = await collected({"stdio", "http"})
    assert bench.calls == [["http", "stdio"], [SSE, STDIO], ("wrapper", "server"), []]
    assert result.evidence[STDIO].status is Verdict.SUCCESS
    assert (result.evidence[SSE].status, result.evidence[SSE].options) == (Verdict.SKIPPED, ("--bench",))
    assert set(result.files) == {f"measurements/{STDIO}.json"}


async def test_a_demand_outside_the_scope_is_not_measured(bench: Bench) -> None:
    result = await collected({"http"})
    assert bench.calls[1] == [SSE]
    assert set(result.evidence) == {SSE}


@pytest.mark.usefixtures("bench")
async def test_a_sandbox_that_cannot_be_had_is_never_a_bare_run() -> None:
    asking = Collection(PROFILE, (), CertifyOptions(sandbox="auto"), frozenset({"stdio"}))
    with pytest.raises(CannotJudge, match="no sandbox"):
        await asking.prepare()


def test_every_provider_measures_demands_of_the_profile() -> None:
    known = {demand.id for demand in PROFILE.demands if demand.limit}
    names = [name for provider in providers() for name in provider.demands]
    assert set(names) <= known
    assert len(set(names)) == len(names)
