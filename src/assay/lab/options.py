"""Options of the lab's functions, named as on the command line: `--allow-effects` is `allow_effects`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

if TYPE_CHECKING:
    Arguments = Path | Mapping[str, Sequence[Mapping[str, Any]]]
else:
    Arguments = Any  # msgspec knows no unions with paths; `arguments_from` checks the value

Place = tuple[str, str, str]
"""Scenario, transport and revision."""
SECRET: Final = "ASSAY_CLIENT_SECRET"
"""The environment variable with the secret of `client_id`: a command line is visible to other users."""


class Access(Struct, frozen=True, kw_only=True):
    """What a protected server needs to let the driver in. None of it is stored or shown."""

    headers: Mapping[str, str] = {}
    """Sent with every request."""
    bearer: str | None = None
    bearer_other: str | None = None
    """A valid token of a second user, to test isolation."""
    bearer_weak: str | None = None
    """A valid token whose scopes are not enough for every operation."""
    bearer_expired: str | None = None
    bearer_foreign: str | None = None
    """A token of the same issuer for another server."""
    authority: str | None = None
    """The issuer to get all these tokens from instead."""
    audience: str | None = None
    """The resource to request tokens for. Default: the URL of the server."""
    token_scope: tuple[str, ...] = ()
    client_id: str | None = None
    """A client that is registered there. Default: register one."""
    client_secret: str | None = None
    ca: Path | None = None
    """Authorities that sign the server's certificate (PEM)."""
    client_cert: Path | None = None
    client_key: Path | None = None

    def __repr__(self) -> str:
        return "Access(…)"  # tokens must not reach a log


class Evidence(Struct, frozen=True, kw_only=True):
    """Evidence beside the messages, which the marketplace suite looks at."""

    registry: Path | None = None
    """The server's `server.json`."""
    observe: tuple[Path, ...] = ()
    """Directories that the server may write to, compared before and after every call."""
    otlp: str | None = None
    """`host:port` to receive the server's spans on."""


class Golden(Struct, frozen=True, kw_only=True):
    """Record a run as the expected one, or compare a run with it. Needs `output`: traces are compared."""

    record: Path | None = None
    against: Path | None = None
    ignore: tuple[str, ...] = ()
    """JSON Pointers of values that may differ."""


class RunOptions(Struct, frozen=True, kw_only=True):
    """Options that servers and clients share."""

    scenario: tuple[str, ...] = ()
    """Globs such as `tools-*`, or areas. Default: all."""
    skip: tuple[str, ...] = ()
    """Globs of scenarios to leave out."""
    spec_version: tuple[str, ...] = ()
    """Revisions by date."""
    jobs: int | None = None
    """Scenarios that run at once. Default: the number of cores."""
    repeat: int = 1
    deadline: float | None = None
    """Seconds for the whole run, which then ends as incomplete, with what was judged. Default: an hour for
    each repetition, and never less than one scenario may take."""
    strict: bool = False
    """A violated SHOULD fails, too."""
    baseline: Path | None = None
    """YAML file of expected failures. An entry that passes is an error."""
    output: Path | None = None
    """Directory to store the run and its traces in. Default: nothing is stored."""
    golden: Golden = Golden()
    first: frozenset[Place] = frozenset()
    """Scenario runs that go before all others."""


class JudgeOptions(RunOptions, frozen=True, kw_only=True):
    suite: str = ""
    """`protocol`, `everything` or `marketplace`. Default: the suite that has the scenarios, or `protocol`."""
    transport: tuple[str, ...] = ()
    """`stdio`, `http`, `http-sse` or `ws`. Default: detected, and stdio for what the lab starts."""
    access: Access = Access()
    evidence: Evidence = Evidence()
    allow_effects: bool = False
    """Also run scenarios that may change data of the server, and call tools without `readOnlyHint`."""
    allow_destructive: bool = False
    """Also call tools with `destructiveHint`. Includes `allow_effects`."""
    arguments: Arguments = {}
    """Sets of arguments for each tool, or a JSON file with them."""
    allow_load: bool = False
    """Also run scenarios that put load on the server."""
    timeout: float = 10.0
    """Seconds to wait for one answer."""
    isolate: bool = False
    """On stdio, a new process for every scenario."""


class ClientOptions(RunOptions, frozen=True, kw_only=True):
    suite: str = "all"
    """A group of client scenarios: `all`, `official`, `core`, `extensions`, or an area such as `auth`."""
    transport: str | None = None
    """`http`, `stdio` or `ws`. Default: `stdio` if the command has `{server}`, else `http`."""
    timeout: float | None = None
    """Seconds for one scenario. Default: 30, or 600 for a client that is operated by hand."""
    once: bool = False
    """Each scenario at one revision only, the newest that has it."""


class FuzzOptions(Struct, frozen=True, kw_only=True):
    seconds: float = 60.0
    seed: int | None = None
    """The same seed generates the same messages. Default: random."""
    case: tuple[str, ...] = ()
    """Cases to try instead, as a finding names them."""
    transport: tuple[str, ...] = ()
    access: Access = Access()
    spec_version: tuple[str, ...] = ()
    allow_effects: bool = False
    allow_destructive: bool = False
    strict: bool = False
    timeout: float = 10.0
    output: Path | None = None
