"""Facts about a subject on one transport and revision: what it declares and lists."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from msgspec import Struct, field

from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.plausible import seems_to_remove
from assay.lab.harness.trace.listing import is_declared


class Permission(StrEnum):
    """Which tools may be called."""

    READ_ONLY = "read-only"
    """Those with `readOnlyHint`."""
    EFFECTS = "effects"
    """All but those with `destructiveHint`."""
    DESTRUCTIVE = "destructive"
    """All."""


class ToolCalls(Struct, omit_defaults=True):
    """What the first calls of a tool have shown."""

    arguments: list[dict[str, Any]] = []
    """Sets of arguments that work, or that the user provided."""
    works: bool = False
    seconds: float = 0.0
    """How long it took, or how long was waited."""
    slow: bool = False
    """It took longer than the patience: only a scenario that cancels it calls it again."""
    progress: bool = False
    """Whether it reported progress."""
    logs: bool = False
    """Whether it sent log messages."""
    error: str = ""
    """What the server answered last, if no call succeeded."""


UNTRIED: Final = ToolCalls()
ENOUGH: Final = 2.0
"""Seconds that the tools may take together in a scenario that needs some of them."""


class Facts(Struct):
    revision: str
    capabilities: dict[str, Any] = {}
    server: dict[str, Any] = {}
    """The server's `serverInfo`."""
    tools: list[dict[str, Any]] = []
    resources: list[dict[str, Any]] = []
    templates: list[dict[str, Any]] = []
    prompts: list[dict[str, Any]] = []
    cursors: bool = False
    """Whether a list has more than one page."""
    session: bool = False
    """Whether the server assigns a session id."""
    local: bool = False
    """Whether the host name is a loopback name."""
    protected: bool = False
    """Whether the server refuses requests without a token."""
    bearers: list[str] = []
    """Kinds of tokens that the driver has; see `bearer.py`."""
    certificates: list[str] = []
    """Kinds of client certificates that the driver has; see `identity.py`."""
    startable: bool = False
    """Whether the lab can start another process of the server that listens."""
    out_of_band: list[str] = field(default_factory=list, name="beside")
    """Kinds of evidence besides the messages; see `out_of_band.py`."""

    permission: Permission = Permission.READ_ONLY
    calls: dict[str, ToolCalls] = field(default_factory=dict)
    """By the name of the tool; see `first_calls.py`."""

    def declares(self, *path: str) -> bool:
        return is_declared(self.capabilities, *path)

    @property
    def read_only_tools(self) -> list[dict[str, Any]]:
        """Tools with `readOnlyHint`."""
        return [tool for tool in self.tools if hints(tool).get("readOnlyHint") is True]

    @property
    def permitted_tools(self) -> list[dict[str, Any]]:
        """Tools that may be called: first those that only read, last those that destroy, by their hints and
        then by their names."""
        named = [tool for tool in self.tools if isinstance(tool.get("name"), str)]
        ranked = sorted(named, key=lambda tool: (_RANKS.index(permission_for(tool)), seems_to_remove(tool)))
        return [tool for tool in ranked if self.permits(tool)]

    @property
    def callable_tools(self) -> list[dict[str, Any]]:
        """Tools that may be called and are not slow."""
        return [tool for tool in self.permitted_tools if not self.is_slow(tool)]

    @property
    def quick_tools(self) -> list[dict[str, Any]]:
        """Callable tools that are quick enough to be called in many scenarios: first those that have worked,
        and at least one if any can be called."""
        total = 0.0
        chosen: list[dict[str, Any]] = []
        for tool in sorted(self.callable_tools, key=lambda tool: self.calls_of(tool).seconds):
            total += self.calls_of(tool).seconds
            if chosen and total > ENOUGH:
                break
            chosen.append(tool)
        tools = [tool for tool in self.callable_tools if tool in chosen]
        return sorted(tools, key=lambda tool: not self.calls_of(tool).works)

    def calls_of(self, tool: dict[str, Any]) -> ToolCalls:
        return self.calls.get(str(tool.get("name")), UNTRIED)

    def permits(self, tool: dict[str, Any]) -> bool:
        return _RANKS.index(permission_for(tool)) <= _RANKS.index(self.permission)

    def is_slow(self, tool: dict[str, Any]) -> bool:
        return self.calls_of(tool).slow

    @property
    def has_effects(self) -> bool:
        """Whether a scenario may call tools that change something."""
        return any(permission_for(tool) is not Permission.READ_ONLY for tool in self.permitted_tools)

    def arguments_for(self, tool: dict[str, Any]) -> dict[str, Any]:
        """Arguments that have worked, else those that are most likely to."""
        return self.argument_sets(tool)[0]

    def argument_sets(self, tool: dict[str, Any]) -> list[dict[str, Any]]:
        """All sets of arguments that have worked, or the one that is most likely to."""
        return self.calls_of(tool).arguments or [arguments_for(tool)]


_RANKS = tuple(Permission)


def permission_for(tool: dict[str, Any]) -> Permission:
    """The least permission with which a tool may be called, by its own words."""
    if hints(tool).get("readOnlyHint") is True:
        return Permission.READ_ONLY
    return Permission.DESTRUCTIVE if hints(tool).get("destructiveHint") is True else Permission.EFFECTS


def hints(tool: dict[str, Any]) -> dict[str, Any]:
    annotations = tool.get("annotations")
    return annotations if isinstance(annotations, dict) else {}


class UnsupportedRevision(Struct):
    """Why a subject does not support a revision."""

    revision: str
    reason: str
    unanswered: bool = False
    """There was no answer: the subject is down, or does not implement the protocol."""
