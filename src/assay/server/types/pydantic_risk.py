"""What pydantic would do for a client that no client may ask for. Looked for at registration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.model.error import RegistrationError

PYTHON: Final = "python-re"
NOT_READ: Final = ("metadata", "serialization")
"""Parts of a schema that do not read values."""


def check_risks(schema: Any) -> None:
    """
    Args:
        schema: A core schema of pydantic.

    Raises:
        RegistrationError: a pattern would be matched by Python, which takes hours for some texts of 40
            characters, or the client could choose what is imported.
    """
    nodes = list(_nodes(schema))
    by_python = any(_engine(node) == PYTHON for node in nodes)
    for node in nodes:
        pattern = node.get("pattern") if node.get("type") == "str" else None
        if isinstance(pattern, re.Pattern) or (pattern is not None and by_python):
            raise RegistrationError(f"{_text(pattern)}: {_fix_of_pattern(pattern)}")
        if getattr(_function(node), "__name__", "") == "import_string":
            raise RegistrationError(
                "ImportString would import what the client names, and run it; write str, and look the name "
                "up in a table of your own"
            )


def hashes_values(schema: Any) -> bool:
    """Whether a core schema builds sets, or dicts whose keys are not texts."""
    return any(
        node.get("type") in ("set", "frozenset")
        or (node.get("type") == "dict" and node.get("keys_schema", {}).get("type", "any") != "str")
        for node in _nodes(schema)
    )


def _engine(node: Mapping[str, Any]) -> Any:
    config = node.get("config")
    return node.get("regex_engine") or (config.get("regex_engine") if isinstance(config, Mapping) else None)


def _function(node: Mapping[str, Any]) -> Any:
    function = node.get("function")
    return function.get("function") if isinstance(function, Mapping) else function


def _text(pattern: Any) -> str:
    return f"pattern {pattern.pattern if isinstance(pattern, re.Pattern) else pattern!r}"


def _fix_of_pattern(pattern: Any) -> str:
    reason = "Python's re would match it, and a client can send a text that takes it hours"
    if isinstance(pattern, re.Pattern):
        return f"{reason}; write it as text, with flags inside, such as '(?i)a+'"
    return f"{reason}; leave out regex_engine='{PYTHON}'"


def _nodes(schema: Any) -> Iterator[Mapping[str, Any]]:
    visited: set[int] = set()
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list | tuple):
            waiting += part
        elif isinstance(part, Mapping) and id(part) not in visited:
            visited.add(id(part))
            yield part
            waiting += [value for name, value in part.items() if name not in NOT_READ]
