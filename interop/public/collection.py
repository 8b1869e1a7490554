"""Public servers, and public clients: each with a table, stored traces, a record, reasons and a page."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.run.run import Run
from assay.lab.harness.trace.recorder import Redaction
from assay.lab.suites import suite_named
from interop.public.page import page as written
from interop.public.reason import Reasons, read_reasons
from interop.public.record import (
    JudgedPackage,
    Key,
    Record,
    RecordedFinding,
    deduplicated,
    findings_in,
    outcomes,
    places_of,
    smallest_cover,
    trace_name,
)
from interop.public.table import (
    HERE,
    ROOT,
    PublicClient,
    PublicPackage,
    PublicServer,
    public_clients,
    public_servers,
)

ABOUT_SERVERS = """\
# Public servers

The lab's findings in public servers from PyPI and npm, at the versions pinned in `interop/public/servers/`,
none with conformance fixtures. Written by `make public`; do not edit.

- Each finding names the requirement, what was expected and observed, the frames that prove it, and why it is
  true. The reasons are written by hand in `interop/public/reasons.toml`, after reading the clause and, if
  available, the server's source. A finding without a reason fails the command: a false finding is a fault of
  the lab. If the clause can be read so that the server conforms, the reason is marked as debatable.
- The trace behind each finding is stored. `assay judge interop/public/traces` judges them again, offline, and
  `tests/interop/test_public.py` compares the result with this page.
- `make public ARGS="--runs 3"` judges every server three times, and fails if a verdict differs.
- A finding is about one sentence of the specification. Most come from the SDK that a server is built with,
  and few would affect a well-behaved client. They say nothing about how useful a server is.
"""
ABOUT_CLIENTS = """\
# Public clients

The lab's findings in client libraries from PyPI and npm, at the versions pinned in `interop/public/clients/`.
Each is driven by a short program there, which follows the steps of the lab and exits with status 127 at what
the library has no API for. Written by `make public ARGS=--clients`; do not edit.

- As for [servers](public-servers.md), every finding has its frames, a stored trace and a reason, which was
  written by hand in `interop/public/client_reasons.toml` after reading the clause and the library's source.
- `make public ARGS="--clients --runs 3"` judges every client three times, and fails if a verdict differs.
- Where a library leaves a decision to the program that uses it, the behaviour without that decision counts.
"""


class Collection(msgspec.Struct, frozen=True):
    kind: type[PublicPackage]
    suite_name: str
    packages: Callable[[], Mapping[str, PublicPackage]]
    record: Path
    reasons_file: Path
    page: Path
    introduction: str

    def suite(self) -> Suite:
        return suite_named(self.suite_name)

    def reasons(self) -> Reasons:
        return read_reasons(self.reasons_file)

    def read_record(self) -> Record:
        return msgspec.json.decode(self.record.read_bytes(), type=Record)

    def text(self, record: Record) -> str:
        return written(self.introduction, record, self.packages(), self.reasons())

    def store(self, package: PublicPackage, run: Run, home: Path, private: Redaction) -> JudgedPackage:
        """Store the traces with findings."""
        folder = self.kind.traces / package.name
        shutil.rmtree(folder, ignore_errors=True)
        places = places_of(run)
        size = {cell.trace: (home / cell.trace).stat().st_size for cells in places.values() for cell in cells}
        for cell in smallest_cover(places, size):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / trace_name(cell)).write_bytes(private.text((home / cell.trace).read_bytes()))
        revisions = {key: sorted({cell.revision for cell in cells}) for key, cells in places.items()}
        findings = self._findings_below(folder, revisions)
        for file in {*folder.glob("*.ndjson")} - {folder / finding.trace for finding in findings}:
            file.unlink()
        return JudgedPackage(
            name=package.name,
            version=package.version(),
            transport=package.transport,
            speaks=[facts.revision for subject in run.subjects for facts in subject.facts],
            outcomes=outcomes(run),
            findings=findings,
        )

    def rejudge(self, known: JudgedPackage) -> JudgedPackage:
        """The same subject, judged by its stored traces."""
        revisions = {finding.key: finding.revisions for finding in known.findings}
        findings = self._findings_below(self.kind.traces / known.name, revisions)
        return msgspec.structs.replace(known, findings=findings)

    def keep(self, fresh: Sequence[JudgedPackage]) -> None:
        """Merge new results into the record and write the page."""
        suite = self.suite()
        known = {result.name: result for result in self.read_record().judged} if self.record.exists() else {}
        known |= {result.name: result for result in fresh}
        judged = [known[name] for name in self.packages() if name in known]
        self._write(Record(scenarios=len(suite.scenarios), checks=len(suite.checks), judged=judged))

    def refresh(self) -> None:
        """Judge the stored traces again. Nothing was run, so the size of the suite stays as it was."""
        record = self.read_record()
        self._write(msgspec.structs.replace(record, judged=[self.rejudge(each) for each in record.judged]))

    def breaches(self) -> list[str]:
        """Findings without a reason, and reasons without a finding."""
        return list(self.reasons().breaches(self.read_record().judged))

    def _findings_below(self, folder: Path, revisions: Mapping[Key, Sequence[str]]) -> list[RecordedFinding]:
        files = sorted(folder.glob("*.ndjson"))
        return deduplicated(
            finding for file in files for finding in findings_in(self.suite(), file, file.name, revisions)
        )

    def _write(self, record: Record) -> None:
        self.record.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
        self.page.write_text(self.text(record), "utf-8")


EVIDENCE = ROOT / "docs" / "evidence"
SERVERS = Collection(
    PublicServer,
    "protocol",
    public_servers,
    HERE / "record.json",
    HERE / "reasons.toml",
    EVIDENCE / "public-servers.md",
    ABOUT_SERVERS,
)
CLIENTS = Collection(
    PublicClient,
    "client",
    public_clients,
    HERE / "client_record.json",
    HERE / "client_reasons.toml",
    EVIDENCE / "public-clients.md",
    ABOUT_CLIENTS,
)
