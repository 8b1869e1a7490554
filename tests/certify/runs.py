"""Stored runs for tests, built cell by cell."""

from assay.certify import profile_list
from assay.certify.bundle import layout
from assay.certify.profile_list import Profile
from assay.certify.summary import SummaryContext
from assay.certify.summary_form import Host
from assay.lab.harness.reason import Reason, stored
from assay.lab.harness.run.run import FORMAT, CellResult, Run, SubjectRecord, dump_run
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.verdict import CheckResult, Finding, Outcome, Verdict

DATE = "a-revision"
FIRST_EDITION = "intelgraph/2025-10"
PROFILE = profile_list.shipped(FIRST_EDITION)
FRAMING, IDS = "CONF-TPT-01.stdio.framing", "CONF-JRPC-02.id-echo"
CONTEXT = SummaryContext(
    server="my-server",
    version="1.0",
    artifact=None,
    generated_at="2030-01-01T00:00:00Z",
    expires_at="2030-04-01T00:00:00Z",
    host=Host("Linux", "6", "x86_64", "3.11"),
    developer="sha256:ab",
)


def checked(name: str, verdict: Verdict, reason: Reason | None = None) -> CheckResult:
    level = "MUST" if verdict is Verdict.FAILURE else "SHOULD"
    broken = verdict in (Verdict.FAILURE, Verdict.WARNING)
    finding = Finding(name, level, "It must be so", "https://example.org", "this", "<that>", [3], ["3 > x"])
    findings = [finding] if broken else []
    return CheckResult(name, name, verdict, {name: ""}, 1, findings, **stored(reason))


def cell(
    *checks: CheckResult,
    transport: str = "stdio",
    scenario: str = "jrpc.ids",
    reason: Reason | None = None,
    broke_off: bool = False,
) -> CellResult:
    return CellResult(
        scenario,
        scenario,
        transport,
        DATE,
        Outcome.PASSED if checks else Outcome.NOT_APPLICABLE,
        "2030-01-01T00:00:00.000Z",
        **stored(reason),
        broke_off=broke_off,
        checks=list(checks),
        trace=f"traces/{scenario}.ndjson" if checks else "",
    )


def run(*cells: CellResult, transports: tuple[str, ...] = ("stdio",), interrupted: bool = False) -> Run:
    subjects = [SubjectRecord("it", transport, [Facts(DATE)]) for transport in transports]
    started = "2030-01-01T00:00:00.000Z"
    return Run(FORMAT, "0.1.0", started, 1.5, subjects, list(cells), "marketplace", interrupted=interrupted)


def healthy(profile: Profile = PROFILE) -> Run:
    """All demands that stdio can show are met."""
    names = [
        demand.id for demand in profile.demands if demand.by == "traces" and "stdio" in demand.transports
    ]
    return run(cell(*(checked(name, Verdict.SUCCESS) for name in names)))


def files(stored_run: Run, profile: Profile = PROFILE) -> dict[str, bytes]:
    return {layout.RUN: dump_run(stored_run), layout.PROFILE: profile.data}
