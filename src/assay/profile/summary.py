"""Effect summaries: what a call of a tool did, on its result."""

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
from assay.protocol.layer import Component, ComponentRegistry
from assay.protocol.layer import LayeredCall as Call

from .digests import digest_of_content, digest_of_json
from .keys import EFFECTS
from .retention import Retention, tier_in

UNHINTED: Final = ToolAnnotations()

_call_params: Final = msgspec.json.Decoder(CallParams).decode


class Declared(Struct, rename="camel"):
    """What a tool's annotations say, or the protocol where they say nothing."""

    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool


class Entry(Struct, rename="camel"):
    """Where the call stands in the ledger."""

    seq: int
    entry_hash: str


class Summary(Struct, omit_defaults=True, rename="camel"):
    v: int
    call_id: str
    tool: str
    declared: Raw
    effects: Sequence[Effect]
    result_digest: str
    retention: str
    args_digest: str | None = None
    """None for arguments that canonical JSON cannot say."""
    ledger: Entry | None = None


class Known(Struct):
    """What a summary says of a tool whatever the call."""

    tool: Component | None
    declared: Raw
    retention: str


def declared(hints: ToolAnnotations | None) -> Declared:
    hints = hints or UNHINTED
    return Declared(
        read_only=hints.read_only_hint is True,
        destructive=hints.destructive_hint is not False,
        idempotent=hints.idempotent_hint is True,
        open_world=hints.open_world_hint is not False,
    )


def read_call(call: Call) -> CallParams | None:
    """What is called, with what; none where the parameters are none of a call."""
    if type(call.decoded_params) is CallParams:
        return call.decoded_params
    try:
        return decode_params(call.params, _call_params)
    except RpcError:
        return None


class Summaries:
    """Makes summaries for the tools of one server."""

    def __init__(self, registry: ComponentRegistry[Component], retention: Retention) -> None:
        self._registry = registry
        self._retention = retention
        self._known: dict[str, Known] = {}
        # Unique among all processes without asking for chance each time.
        self._prefix = secrets.token_hex(8)
        self._numbers = count(1)

    def about(self, name: str) -> Known:
        """Asked before the call: a tool may be gone after it."""
        tool = self._registry.get(name)
        known = self._known.get(name)
        return known if known is not None and known.tool is tool else self._learn(name, tool)

    def _learn(self, name: str, tool: Component | None) -> Known:
        if tool is None:
            return Known(None, Raw(encode(declared(None))), self._retention.default)
        if len(self._known) > 2 * len(self._registry):
            self._known.clear()  # tools that come and go are not remembered for ever
        tier = tier_in(tool.definition.meta, f"tool {name}") or self._retention.default
        known = Known(tool, Raw(encode(declared(tool.definition.annotations))), tier)
        self._known[name] = known
        return known

    def make(
        self, params: CallParams, known: Known, effects: Sequence[Effect], content: list[Any]
    ) -> Summary:
        return Summary(
            1,
            f"{self._prefix}-{next(self._numbers)}",
            params.name,
            known.declared,
            effects,
            digest_of_content(content),
            known.retention,
            digest_of_json(params.arguments),
        )


def put(summary: Summary, result: ToolResult) -> ToolResult:
    """The result with its summary. The result itself may belong to the tool, and stays as it is."""
    meta = {EFFECTS: summary} if result.meta is None else {**result.meta, EFFECTS: summary}
    return ToolResult(result.content, result.structured, result.is_error, meta)
