"""Whose work a request is part of: the trace context in its `_meta`, which MCP carries on every transport."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec
from msgspec import Raw, UnsetType
from opentelemetry import context as contexts
from opentelemetry import propagate, trace
from opentelemetry.context import Context
from opentelemetry.trace import Link

_decode: Final = msgspec.json.Decoder(dict[str, Any]).decode
LONGEST: Final = 8192
"""Characters of one value: what W3C asks to be kept of baggage, the largest of them."""


class Parent:
    """Finds the parent of spans with the propagators that are configured: by default those of W3C."""

    def __init__(self) -> None:
        self._propagator = propagate.get_global_textmap()
        self._fields = {field.encode(): field for field in self._propagator.fields}
        self._looks = re.compile(b"|".join(map(re.escape, self._fields)) or b"(?!)").search

    def of(
        self, meta: Raw | UnsetType, headers: Iterable[tuple[bytes, bytes]]
    ) -> tuple[Context, tuple[Link, ...]]:
        """The context of a request, and links to what is there beside it.

        The message itself comes first, as its transport may carry several or carry it again. Where it says
        nothing, the span around us is the parent; where there is none, what the HTTP request says.
        """
        ambient = contexts.get_current()
        carrier = None if isinstance(meta, UnsetType) else self._said(meta)
        if not carrier and not headers:
            return ambient, ()
        around = trace.get_current_span(ambient).get_span_context()
        if carrier:
            links = (Link(around),) if around.is_valid else ()
            return self._propagator.extract(carrier, ambient), links
        carrier = None if around.is_valid else self._sent(headers)
        return (self._propagator.extract(carrier, ambient) if carrier else ambient), ()

    def _said(self, meta: Raw) -> dict[str, str]:
        # Few requests carry one, and to look for the bytes is cheaper than to read them.
        raw = bytes(meta)
        if self._looks(raw) is None:
            return {}
        try:
            said = _decode(raw)
        except (msgspec.DecodeError, RecursionError):
            return {}  # the method itself refuses it, where it has to be refused
        found = {field: said.get(field) for field in self._fields.values()}
        return {
            field: value for field, value in found.items() if isinstance(value, str) and len(value) <= LONGEST
        }

    def _sent(self, headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
        return {
            self._fields[name]: value.decode("latin-1")
            for name, value in headers
            if name in self._fields and len(value) <= LONGEST
        }
