"""Ways to look better than one is: each is refused, or leaves the certification incomplete or not met."""

import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from assay.certify import badge, evidence, metrics, summary
from assay.certify.bundle import layout, provenance, sbom
from assay.certify.bundle.bundle_manifest import Artifact
from assay.certify.conclusion import HEARTBEAT, RESUME, Conclusion
from assay.certify.derived_score import GUARDS
from assay.certify.evidence import Installed
from assay.certify.measurement.document import BadMeasurement, Measurement, as_files
from assay.certify.metrics import BadMetrics
from assay.certify.scope import scope_of
from assay.certify.scoring import SCOPE, Evidence, Measure, Unmeasured
from assay.certify.verification.procedure import verify
from assay.lab.error import InvalidOptions
from assay.lab.harness.reason import Reason, ReasonKind
from assay.lab.harness.run.run import Run, SubjectRecord
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.verdict import Verdict
from assay.lab.target import Command, Url
from tests.certify import bundles
from tests.certify.bundle.test_supply_chain import envelope, spdx
from tests.certify.runs import CONTEXT, cell, checked
from tests.certify.runs import files as run_files
from tests.certify.runs import run as stored_run
from tests.certify.test_conclusion import PROFILE, newest_only, perfect, traced
from tests.certify.test_metrics import SHOOTOUT

pytestmark = pytest.mark.waits

GOOD = Evidence(Verdict.SUCCESS, "shown")
EVIDENCE = [demand.id for demand in PROFILE.demands if demand.by in ("evidence", "measurement")]
MEASURED = {demand.id: demand for demand in PROFILE.demands if demand.limit}


def category(name: str) -> list[str]:
    return [demand.id for demand in PROFILE.demands if demand.category == name]


def enough(demand: str) -> dict[str, float]:
    """Figures that are just within the limits."""
    return {
        limit.figure: limit.at_most if limit.at_most is not None else limit.at_least or 0.0
        for limit in MEASURED[demand].limit
    }


@dataclass(frozen=True)
class Server:
    """What a certification has seen of a server, perfect but for one thing."""

    run: Run = field(default_factory=perfect)
    judged: dict[str, Evidence] = field(default_factory=dict)
    without: Iterable[str] = ()
    measured: dict[str, dict[str, float]] = field(default_factory=dict)
    problem: str = ""
    scope: tuple[str, ...] = SCOPE
    unmeasured: dict[str, Unmeasured] = field(default_factory=dict)

    @property
    def conclusion(self) -> Conclusion:
        files = run_files(self.run, PROFILE)
        for demand in MEASURED:
            if demand not in self.without:
                figures = self.measured.get(demand, enough(demand))
                files |= as_files(Measurement(demand=demand, figures=figures, problem=self.problem), None)
        claimed = {name: GOOD for name in EVIDENCE if name not in self.without} | self.judged
        stored = {name: files[name] for name in files}
        rebuilt = evidence.rebuild(_with_files(claimed), stored, CONTEXT.generated_at, PROFILE)
        judged = {
            **rebuilt,
            **{name: claimed[name] for name in FROM_FILES if name in claimed},
        }
        context = msgspec.structs.replace(CONTEXT, scope=self.scope)
        return summary.summarise(files, context, judged, self.unmeasured).conclusion


FROM_FILES = (evidence.SBOM, evidence.VULNERABILITIES, evidence.SIGNATURE, evidence.PROVENANCE)


def _with_files(claimed: dict[str, Evidence]) -> dict[str, Evidence]:
    skipped = Evidence(Verdict.SKIPPED, "not shown")
    return {name: claimed.get(name, skipped) for name in EVIDENCE}


def with_facts(facts: Facts, without: Iterable[str] = ()) -> Run:
    subjects = [SubjectRecord("it", transport, [facts]) for transport in SCOPE]
    return msgspec.structs.replace(perfect(without), subjects=subjects)


def broken_off() -> Run:
    whole = with_facts(Facts(CONTEXT.generated_at[:10], protected=True))
    ended = [msgspec.structs.replace(part, broke_off=True, reason="gone") for part in whole.cells]
    return msgspec.structs.replace(whole, cells=ended)


def ended_in(name: str) -> Run:
    """The process ends in the scenario of one demand, after that was seen to be met."""
    last = cell(checked(name, Verdict.SUCCESS), transport="http", broke_off=True)
    whole = perfect()
    return msgspec.structs.replace(whole, cells=[*whole.cells, last])


def unmeasured(name: str, kind: ReasonKind) -> Server:
    """It lacks a result for a reason that somebody can bring about."""
    reasons = {name: Unmeasured(Measure.NOT_MEASURED, Reason(kind, "why"))}
    return Server(perfect([name]), unmeasured=reasons)


def without_result(name: str, kind: ReasonKind) -> Server:
    """A measurement that was asked for and came to nothing."""
    nothing = evidence.not_measured(Reason(kind, "why"))
    return Server(without=[name], judged={name: nothing})


def failing(name: str) -> Run:
    return stored_run(
        *perfect().cells, cell(checked(name, Verdict.FAILURE), transport="http"), transports=SCOPE
    )


INCOMPLETE, NOT_MET = Conclusion.INCOMPLETE, Conclusion.NOT_MET
ANY = Facts(CONTEXT.generated_at[:10])
NESTING = "CONF-JRPC-03.deep-nesting"
"""A demand that is scored, and not core."""
SANDBOX, REPLAY, STDIO = "CONF-TPT-01.stdio.no-network", "CONF-EVD-06.replay", "BENCH-STDIO-02"
STALE = Installed(frozenset({("npm", "zod", "4.0.0")}), frozenset({"npm"}))
BILL = json.dumps(spdx(("zod", "3.1.0"))).encode()
ARTIFACT = Artifact("server.whl", "ab" * 32)


def built(artifact: Artifact | None) -> dict[str, Evidence]:
    return {evidence.PROVENANCE: evidence.judge_provenance(envelope(), artifact)}


OBSERVED: dict[str, tuple[Callable[[], Server], Conclusion]] = {
    "it has no stream": (lambda: Server(perfect([HEARTBEAT, RESUME])), INCOMPLETE),
    "its stream does not beat": (lambda: Server(perfect([HEARTBEAT])), INCOMPLETE),
    "its stream does not resume": (lambda: Server(perfect([RESUME])), INCOMPLETE),
    "only a revision without resumption is tried": (lambda: Server(newest_only([])), INCOMPLETE),
    "it asks for no credentials": (lambda: Server(with_facts(ANY, GUARDS)), NOT_MET),
    "it is shown a token that it does not need": (
        lambda: Server(with_facts(Facts(ANY.revision, bearers=["usual"]), GUARDS)), NOT_MET),
    "requests without a token are not tried": (
        lambda: Server(with_facts(Facts(ANY.revision, protected=True), GUARDS)), INCOMPLETE),
    "it serves requests without a token": (lambda: Server(failing("CONF-SEC-04.no-token")), NOT_MET),
    "the sandbox is not measured": (lambda: Server(without=category("isolation")), INCOMPLETE),
    "no benchmark is measured": (lambda: Server(without=category("performance")), INCOMPLETE),
    "no span is exported": (lambda: Server(perfect(category("observability"))), INCOMPLETE),
    "HTTP is not judged": (lambda: Server(perfect(transports=("stdio",))), INCOMPLETE),
    "stdio is not judged": (lambda: Server(perfect(transports=("http",))), INCOMPLETE),
    "nothing is judged": (lambda: Server(stored_run(transports=())), INCOMPLETE),
    "the scope is wider than what is judged": (
        lambda: Server(perfect(transports=("http",)), scope=("stdio",)), INCOMPLETE),
    "hard scenarios are left out": (lambda: Server(perfect(traced("http")[:20])), INCOMPLETE),
    "its process ends in every scenario": (lambda: Server(broken_off()), INCOMPLETE),
    "its process ends in a scenario that is not core": (lambda: Server(ended_in(NESTING)), INCOMPLETE),
    "its process ends before a demand can be judged": (
        lambda: unmeasured(NESTING, ReasonKind.BROKE_OFF), INCOMPLETE),
    "its process fails where a demand would be judged": (
        lambda: unmeasured(NESTING, ReasonKind.SUBJECT_FAILED), INCOMPLETE),
    "it keeps the judge until the deadline": (
        lambda: unmeasured(NESTING, ReasonKind.DEADLINE), INCOMPLETE),
    "a scenario in which it fails is left out": (
        lambda: unmeasured(NESTING, ReasonKind.NOT_SELECTED), INCOMPLETE),
    "it breaks off a benchmark that it would lose": (
        lambda: without_result("BENCH-SSE-01", ReasonKind.BROKE_OFF), INCOMPLETE),
    "it breaks off the replay": (lambda: without_result(REPLAY, ReasonKind.BROKE_OFF), INCOMPLETE),
    "a benchmark is too slow": (
        lambda: Server(measured={STDIO: {"p95_ms": 20.01, "error_rate": 0}}), NOT_MET),
    "a benchmark leaves out its errors": (
        lambda: Server(measured={name: {"p95_ms": 1} for name in category("performance")}), INCOMPLETE),
    "half of the calls of a benchmark fail": (
        lambda: Server(measured={STDIO: {"p95_ms": 1, "error_rate": 0.5}}), NOT_MET),
    "a benchmark with a problem has good figures": (lambda: Server(problem="it hung"), NOT_MET),
    "the probe escapes from the sandbox": (
        lambda: Server(measured={SANDBOX: {"attempts": 25, "escapes": 1, "answers": 1}}), NOT_MET),
    "the probe tries nothing": (
        lambda: Server(measured={SANDBOX: {"attempts": 0, "escapes": 0, "answers": 1}}), NOT_MET),
    "the server does not answer in the sandbox": (
        lambda: Server(measured={SANDBOX: {"attempts": 25, "escapes": 0, "answers": 0}}), NOT_MET),
    "replays differ": (lambda: Server(measured={REPLAY: {"success_rate": 0.94, "pairs": 90}}), NOT_MET),
    "nothing is replayed": (lambda: Server(measured={REPLAY: {"success_rate": 1, "pairs": 0}}), NOT_MET),
    "a tool that only reads writes": (
        lambda: Server(measured={"CONF-CAP-03.tools.honest": {"dishonest": 1, "tools": 3}}), NOT_MET),
    "its SBOM is stale": (
        lambda: Server(judged={evidence.SBOM: evidence.judge_sbom(BILL, STALE)}), NOT_MET),
    "its SBOM is invalid": (
        lambda: Server(judged={evidence.SBOM: evidence.judge_sbom(b"{}", STALE)}), NOT_MET),
    "its attestation is about another artifact": (
        lambda: Server(judged=built(ARTIFACT)), NOT_MET),
    "its attestation is about no artifact": (
        lambda: Server(judged=built(None)), NOT_MET),
    "its vulnerability report is empty": (
        lambda: Server(judged={evidence.VULNERABILITIES: evidence.judge_vulnerabilities(
            b"{}", bundles.CREATED, GOOD)}), NOT_MET),
}  # fmt: skip


def test_a_server_that_does_none_of_this_meets_the_profile() -> None:
    assert Server().conclusion is Conclusion.MET


@pytest.mark.parametrize("name", OBSERVED)
def test_what_was_not_shown_is_not_met(name: str) -> None:
    server, expected = OBSERVED[name]
    assert server().conclusion is expected


NOT_JUDGED: dict[str, tuple[Callable[[], object], type[Exception]]] = {
    "metrics of a competitor": (lambda: metrics.read(SHOOTOUT).select("mine"), BadMetrics),
    "the best of several runs": (lambda: metrics.read(SHOOTOUT).select("notes"), BadMetrics),
    "the run on another platform": (lambda: metrics.read(SHOOTOUT).select("notes", "mine"), BadMetrics),
    "a figure that is not a number": (
        lambda: as_files(Measurement(demand=STDIO, figures={"p95_ms": float("nan")}), None), BadMeasurement),
    "an attestation without a signature": (
        lambda: provenance.read(envelope().replace(b'[{"keyid": "k", "sig": "AA=="}]', b"[]")), ValueError),
    "a document that is not an SBOM": (lambda: sbom.validate(b'{"packages": []}'), ValueError),
    "a scope that hides a target": (
        lambda: scope_of([Command(("x",)), Url("http://localhost:1/mcp")], "stdio", None), InvalidOptions),
    "a scope that hides a declared transport": (
        lambda: scope_of([Command(("x",))], "stdio", declaring("stdio", "streamable-http")), InvalidOptions),
}  # fmt: skip


def declaring(*transports: str) -> bytes:
    block = {"dev.assay/profile": {"transports": list(transports)}}
    return json.dumps({"_meta": {"io.modelcontextprotocol.registry/publisher-provided": block}}).encode()


@pytest.mark.parametrize("name", NOT_JUDGED)
def test_what_cannot_be_true_is_refused_before_it_is_judged(name: str) -> None:
    pretend, error = NOT_JUDGED[name]
    with pytest.raises(error):
        pretend()


def test_a_second_key_does_not_make_a_badge_independent() -> None:
    signed = msgspec.structs.replace(CONTEXT, harness="sha256:cd")
    judged = {name: GOOD for name in FROM_FILES}
    document = summary.summarise(run_files(perfect(), PROFILE), signed, judged, {})
    assert document.attested.self_attested
    assert json.loads(badge.badge(summary.encode(document)))["selfAttested"] is True


GOOD_MEASUREMENT = as_files(Measurement(demand=STDIO, figures=enough(STDIO), files={"raw": b"1"}), None)
DOCUMENT, RAW = GOOD_MEASUREMENT


def badge_with(**changed: object) -> tuple[Callable[[Path], object], str]:
    return lambda bundle: bundles.edit(
        bundle / layout.BADGE, lambda value: value.update(changed)
    ), "wrong-badge"


FORGED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a badge with another conclusion": badge_with(conclusion="met"),
    "a badge without its gaps": badge_with(gaps=[]),
    "a badge with another scope": badge_with(scope=["stdio"]),
    "a badge that is not self-attested": badge_with(selfAttested=False),
    "a badge of streams that were not shown": badge_with(streams="heartbeat and resumption"),
    "a benchmark with other raw data": (
        lambda bundle: (bundle / RAW).write_bytes(b"2"), "bad-evidence"),
    "a benchmark without its raw data": (lambda bundle: (bundle / RAW).unlink(), "bad-evidence"),
    "raw data that nothing names": (
        lambda bundle: (bundle / f"{RAW}-more").write_bytes(b"1"), "bad-evidence"),
    "the benchmark of another demand": (
        lambda bundle: (bundle / DOCUMENT).rename(bundle / "measurements/BENCH-SSE-01.json"), "bad-evidence"),
}  # fmt: skip


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with a benchmark."""
    raw = {**bundles.run_files(), **bundles.supply_chain(), **GOOD_MEASUREMENT}
    raw["metrics.json"] = metrics.sign(json.dumps(bundles.RESULTS).encode(), bundles.HARNESS)
    content = bundles.finished(raw, bundles.CREATED, bundles.LIFETIME)
    return bundles.make(tmp_path_factory.mktemp("measured") / "evidence", files=content)


def reasons(directory: Path) -> set[str]:
    return {refusal.reason for refusal in verify(directory, bundles.TRUST, now=bundles.NOW).refusals}


def test_a_bundle_with_a_benchmark_verifies(measured: Path) -> None:
    assert reasons(measured) == set()
    assert json.loads((measured / layout.SUMMARY).read_bytes())["measurements"][0]["demand"] == STDIO


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_file_is_refused_although_it_is_signed(measured: Path, tmp_path: Path, name: str) -> None:
    forge, reason = FORGED[name]
    bundle = Path(shutil.copytree(measured, tmp_path / "evidence"))
    forge(bundle)
    bundles.sign_again(bundle)
    assert reason in reasons(bundle)


def test_a_summary_with_a_narrower_scope_is_refused(measured: Path, tmp_path: Path) -> None:
    """Nothing is left of the demands on HTTP, but the summary must be rebuilt from the run."""
    bundle = Path(shutil.copytree(measured, tmp_path / "evidence"))
    bundles.edit(bundle / layout.SUMMARY, lambda document: document.update(scope=["stdio"]))
    bundles.attest_again(bundle)
    assert "wrong-summary" in reasons(bundle)


def test_there_are_many_ways() -> None:
    assert len(OBSERVED) + len(NOT_JUDGED) + len(FORGED) >= 52
