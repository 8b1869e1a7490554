"""Options of a load test, named as on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from assay.lab.options import Access, Arguments

from .relay import Impairment

DEFAULT_USERS: Final = {"stdio": 1, "http": 10, "ws": 10}


class LoadOptions(Struct, frozen=True, kw_only=True):
    scenario: str = "agent"
    """`agent`, `lists`, `calls`, `reads`, `prompts`, `streams`, `sessions`, or a mix: `calls=6,lists=1`."""
    tool: tuple[str, ...] = ()
    """Only these tools are called. Default: those that may be called and work."""
    users: int | None = None
    """Virtual users, each with a connection; on stdio, each with a process. Default: 10, and 1 on stdio."""
    rate: float | None = None
    """Operations in a second, whatever the server does. `users` is then the number of connections."""
    poisson: bool = False
    """At a fixed rate: random intervals, as independent users produce them."""
    think: float = 0.0
    """Without a rate: seconds between an answer and the next operation of a user."""
    seconds: float = 10.0
    """How long is measured."""
    warm_up: float = 1.0
    """Seconds before, which do not count."""
    timeout: float = 10.0
    """Seconds for one answer."""
    slo: str = ""
    """Such as `p95<250ms,errors<0.1%`."""
    transport: str | None = None
    """`stdio`, `http` or `ws`. Default: by the target."""
    spec_version: str | None = None
    """A revision by date. Default: the newest that the server supports."""
    access: Access = Access()
    allow_effects: bool = False
    """Also call tools without `readOnlyHint`."""
    allow_destructive: bool = False
    """Also call tools with `destructiveHint`."""
    arguments: Arguments = {}
    """Sets of arguments for each tool, or a JSON file with them."""
    floor: bool = True
    """Measure what the generator can do here, with a server that does no work."""
    seed: int = 0
    """Of the order of operations."""
    impairment: Impairment | None = None
    """A poor network between the generator and a server at a URL."""
    environment: Mapping[str, str] = {}
    """Further variables of a process on stdio."""
