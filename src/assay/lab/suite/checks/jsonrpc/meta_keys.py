"""Keys of `_meta` are named as the grammar wants: an optional prefix of labels, and a name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

LABEL = r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
PREFIX = re.compile(rf"{LABEL}(?:\.{LABEL})*")
NAME = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?")
# What is inside belongs to the server's author, whatever its keys are called.
OPAQUE = frozenset(
    {
        *("_meta", "structuredContent", "arguments", "data", "inputSchema", "outputSchema"),
        *("requestedSchema", "experimental", "extensions", "input"),
    }
)
TOP = frozenset(
    {"com", "org", "net", "io", "dev", "ai", "app", "co", "edu", "gov", "info", "me", "sh", "tech"}
)
DEEPEST = 16


@check("Keys of `_meta` follow the grammar", rows=("META-01", "META-02", "META-04"), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.spoken:
        for key in _keys(message.fields):
            prefix, slash, rest = key.partition("/")
            name = rest if slash else prefix
            shown = f"key {key!r}"
            expected = "a name of letters, digits, `-`, `_`, `.`, with a letter or digit at both ends"
            yield observe("META-02", bool(NAME.fullmatch(name)), message, expected=expected, observed=shown)
            if slash:
                expected = "a prefix of labels of letters, digits and hyphens, with dots between them"
                right = bool(PREFIX.fullmatch(prefix))
                yield observe("META-01", right, message, expected=expected, observed=shown)
                expected = "a prefix in reverse-DNS order"
                yield observe("META-04", not _is_forward(prefix), message, expected=expected, observed=shown)


def _keys(value: Any, depth: int = 0) -> Iterator[str]:
    """The keys of every `_meta` in a message."""
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            yield from _keys(item, depth + 1)
    elif isinstance(value, dict):
        meta = value.get("_meta")
        yield from meta if isinstance(meta, dict) else ()
        for key, item in value.items():
            if key not in OPAQUE:
                yield from _keys(item, depth + 1)


def _is_forward(prefix: str) -> bool:
    """Whether a prefix ends as a host name does: what neither ends nor begins so is left alone."""
    first, *rest = prefix.lower().split(".")
    return bool(rest) and rest[-1] in TOP and first not in TOP
