"""The two sides: servers, and clients. Each has a table, a record, explanations and a page."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import msgspec

from interop.agreement.explanation import Explanations, read_explanations
from interop.agreement.record import Judged, Record
from interop.agreement.running import judged_server
from interop.agreement.running_clients import judged_client
from interop.agreement.table import HERE, OWN, ROOT, Fixture, fixtures

Judge = Callable[[Fixture, Path, Path, Path], Awaitable[Judged]]


class Side(msgspec.Struct, frozen=True):
    word: str
    introduction: str
    suite: str
    """By which of our suites."""
    speed: str
    """What the times are of."""
    timed: frozenset[str]
    """Whose times are told and bounded."""
    largest_ratio: float
    judge: Judge
    page: Path
    prefix: str = ""
    """Of the names of its files."""

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
- The official suite calls a scenario passed in which nothing failed, also when nothing was checked. Its
  checks are counted instead: *nothing proved* is a scenario without any that is about its subject. That and
  our *not applicable* count as agreement: neither claims anything.
- What a difference means was written by hand, in `interop/agreement/%sexplanations.toml`, after reading the
  frames. A difference that nobody explained fails the command, and so does an explanation of something that
  is no longer so.
"""
SERVERS = Side(
    word="server",
    introduction="""\
# Agreement with the official suite

`assay server --suite everything` plays the scenarios of the official conformance suite under their official
names. Here both judge the same servers: `assay serve everything`, and fixture servers of ours on other SDKs,
in `interop/peers/`. Written by `make agreement`; do not edit.

"""
    + RULES % "",
    suite="the everything suite",
    speed="on `assay serve everything` over HTTP: the whole command from start to end, the best\n"
    "of several rounds in turns.",
    timed=frozenset({OWN}),
    largest_ratio=0.5,
    judge=judged_server,
    page=ROOT / "docs" / "evidence" / "agreement.md",
)
CLIENTS = Side(
    word="client",
    introduction="""\
# Agreement with the official suite, on clients

`assay client` plays the client scenarios of the official conformance suite under their official names. Here
both judge the same clients, over HTTP: fixture clients of ours on the official SDKs, in `interop/peers/`.
Written by `make client-agreement`; do not edit.

"""
    + RULES % "client_",
    suite="`assay client --suite official`",
    speed="as many clients at once as there are scenarios, as the official suite has it: the whole command\n"
    "from start to end, the best of several rounds in turns.",
    timed=frozenset({"python-sdk", "typescript-sdk-2"}),
    largest_ratio=1.0,
    judge=judged_client,
    page=ROOT / "docs" / "evidence" / "client-agreement.md",
    prefix="client_",
)
