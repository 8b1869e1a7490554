"""Effect summaries: what a tool call did, attached to its result."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from itertools import count
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from assay.model.definition import ToolAnnotations
from assay.model.effect import Effect
from assay.model.error import RpcError
from assay.model.jsonrpc import CallParams
from assay.model.result import ToolResult
from assay.protocol.codec import decode_params, encode
from assay.protocol.middleware import Component, ComponentRegistry
from assay.protocol.middleware import ServedCall as Call

from .digests import digest_of_content, digest_of_json
from .keys import EFFECTS
from .port import LedgerPosition
from .retention import Retention, tier_in

UNHINTED: Final = ToolAnnotations()

_call_params: Final = msgspec.json.Decoder(CallParams).decode


class DeclaredHints(Struct, rename="camel"):
    """The hints in a tool's annotations, with the protocol's defaults."""

    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool


class Summary(Struct, omit_defaults=True, rename="camel"):
    v: int
    call_id: str
    tool: str
    declared: Raw
    effects: Sequence[Effect]
    result_digest: str
    retention: str
    args_digest: str | None = None
    """`None` for arguments that canonical JSON cannot represent."""
    ledger: LedgerPosition | None = None


class ToolFacts(Struct):
    """The parts of a summary that do not depend on the call."""

    tool: Component | None
    declared: Raw
    retention: str


def declared_hints(hints: ToolAnnotations | None) -> DeclaredHints:
    hints = hints or UNHINTED
    return DeclaredHints(
        read_only=hints.read_only_hint is True,
        destructive=hints.destructive_hint is not False,
        idempotent=hints.idempotent_hint is True,
        open_world=hints.open_world_hint is not False,
    )


def read_call(call: Call) -> CallParams | None:
    """The parameters of the call; `None` if they are invalid."""
    if type(call.decoded_params) is CallParams:
        return call.decoded_params
    try:
        return decode_params(call.params, _call_params)
    except RpcError:
        return None


class Summaries:
    """Builds summaries for the tools of one server."""

    def __init__(self, registry: ComponentRegistry[Component], retention: Retention) -> None:
        self._registry = registry
        self._retention = retention
        self._known: dict[str, ToolFacts] = {}
        # A random prefix and a counter: unique across processes, without randomness per call.
        self._prefix = secrets.token_hex(8)
        self._numbers = count(1)

    def facts(self, name: str) -> ToolFacts:
        """Called before the call, which may remove the tool."""
        tool = self._registry.get(name)
        cached = self._known.get(name)
        return cached if cached is not None and cached.tool is tool else self._read(name, tool)

    def _read(self, name: str, tool: Component | None) -> ToolFacts:
        if tool is None:
            return ToolFacts(None, Raw(encode(declared_hints(None))), self._retention.default)
        if len(self._known) > 2 * len(self._registry):
            self._known.clear()  # tools that come and go must not accumulate
        tier = tier_in(tool.definition.meta, f"tool {name}") or self._retention.default
        facts = ToolFacts(tool, Raw(encode(declared_hints(tool.definition.annotations))), tier)
        self._known[name] = facts
        return facts

    def make(
        self, params: CallParams, facts: ToolFacts, effects: Sequence[Effect], content: list[Any]
    ) -> Summary:
        return Summary(
            1,
            f"{self._prefix}-{next(self._numbers)}",
            params.name,
            facts.declared,
            effects,
            digest_of_content(content),
            facts.retention,
            digest_of_json(params.arguments),
        )


def put(summary: Summary, result: ToolResult) -> ToolResult:
    """Attach the summary to a copy of the result, which may belong to the tool."""
    meta = {EFFECTS: summary} if result.meta is None else {**result.meta, EFFECTS: summary}
    return ToolResult(result.content, result.structured, result.is_error, meta)
