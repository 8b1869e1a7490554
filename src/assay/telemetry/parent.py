"""The parent of a request's span: the trace context in its `_meta`, which works on every transport."""

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
MAX_LENGTH: Final = 8192
"""Longest value to read: the size of baggage that W3C requires to be propagated."""


class Parent:
    """Finds the parent with the configured propagators, by default those of W3C."""

    def __init__(self) -> None:
        self._propagator = propagate.get_global_textmap()
        self._fields = {field.encode(): field for field in self._propagator.fields}
        self._mentions = re.compile(b"|".join(map(re.escape, self._fields)) or b"(?!)").search

    def of(
        self, meta: Raw | UnsetType, headers: Iterable[tuple[bytes, bytes]]
    ) -> tuple[Context, tuple[Link, ...]]:
        """The parent context of a request, and links to related spans.

        The message takes precedence, because a transport may carry several messages, or one twice. Otherwise
        the
        current span is the parent, and without one the context in the HTTP headers.
        """
        ambient = contexts.get_current()
        carrier = None if isinstance(meta, UnsetType) else self._from_meta(meta)
        if not carrier and not headers:
            return ambient, ()
        current = trace.get_current_span(ambient).get_span_context()
        if carrier:
            links = (Link(current),) if current.is_valid else ()
            return self._propagator.extract(carrier, ambient), links
        carrier = None if current.is_valid else self._from_headers(headers)
        return (self._propagator.extract(carrier, ambient) if carrier else ambient), ()

    def _from_meta(self, meta: Raw) -> dict[str, str]:
        # Few requests carry a context, and to search for the names is cheaper than to decode.
        raw = bytes(meta)
        if self._mentions(raw) is None:
            return {}
        try:
            members = _decode(raw)
        except (msgspec.DecodeError, RecursionError):
            return {}  # the method reports the error
        fields = {field: members.get(field) for field in self._fields.values()}
        return {
            field: value
            for field, value in fields.items()
            if isinstance(value, str) and len(value) <= MAX_LENGTH
        }

    def _from_headers(self, headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
        return {
            self._fields[name]: value.decode("latin-1")
            for name, value in headers
            if name in self._fields and len(value) <= MAX_LENGTH
        }
