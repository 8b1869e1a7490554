"""The two sides: servers, and clients. Each has a table, a record, explanations and a page."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import msgspec

from interop.agreement.client_run import compare_client
from interop.agreement.explanation import Explanations, read_explanations
from interop.agreement.record import Record, SubjectResult
from interop.agreement.server_run import compare_server
from interop.agreement.table import HERE, OWN, ROOT, Fixture, fixtures

Judge = Callable[[Fixture, Path, Path, Path], Awaitable[SubjectResult]]


class Side(msgspec.Struct, frozen=True):
    word: str
    introduction: str
    suite: str
    """Our suite, as the page names it."""
    speed: str
    """How the times were measured."""
    timed: frozenset[str]
    """Subjects whose times are shown and limited."""
    largest_ratio: float
    judge: Judge
    page: Path
    prefix: str = ""
    """Prefix of its file names."""

    @property
    def fixtures(self) -> Mapping[str, Fixture]:
        return fixtures(HERE / f"{self.word}s.toml")

    @property
    def explanations(self) -> Explanations:
        return read_explanations(HERE / f"{self.prefix}explanations.toml")

    @property
    def record_file(self) -> Path:
        return HERE / f"{self.prefix}record.json"

    def record(self) -> Record:
        return msgspec.json.decode(self.record_file.read_bytes(), type=Record)


RULES = """\
- The official suite reports a scenario as passed if nothing failed, even if nothing was checked. Its checks
  are counted instead: *nothing proved* is a scenario without a check about its subject. That and our *not
  applicable* count as agreement, because neither claims anything.
- The differences are explained by hand in `interop/agreement/%sexplanations.toml`, after reading the frames.
  An unexplained difference and an explanation that no longer applies both fail the command.
"""
SERVERS = Side(
    word="server",
    introduction="""\
# Agreement with the official suite

`assay check --suite everything` runs the scenarios of the official conformance suite under their official
names. On this page both suites judge the same servers: `assay serve everything`, and fixture servers on other
SDKs from `interop/peers/`. Written by `make agreement`; do not edit.

"""
    + RULES % "",
    suite="the everything suite",
    speed="on `assay serve everything` over HTTP: the whole command, the best of several alternating\n"
    "rounds.",
    timed=frozenset({OWN}),
    largest_ratio=0.5,
    judge=compare_server,
    page=ROOT / "docs" / "evidence" / "agreement.md",
)
CLIENTS = Side(
    word="client",
    introduction="""\
# Agreement with the official suite, on clients

`assay check --client` runs the client scenarios of the official conformance suite under their official names.
On this page both suites judge the same clients over HTTP: fixture clients on the official SDKs from
`interop/peers/`. Written by `make client-agreement`; do not edit.

"""
    + RULES % "client_",
    suite="`assay check --client --suite official`",
    speed="with all scenarios at once, as the official suite runs them: the whole command, the best of\n"
    "several alternating rounds.",
    timed=frozenset({"python-sdk", "typescript-sdk-2"}),
    largest_ratio=1.0,
    judge=compare_client,
    page=ROOT / "docs" / "evidence" / "client-agreement.md",
    prefix="client_",
)
