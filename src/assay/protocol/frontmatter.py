"""The YAML at the beginning of a Markdown file, as JSON and compared with JSON."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any, ClassVar, Final

from assay.model.error import MissingExtra

FENCE: Final = "---"
MOST_CHARACTERS: Final = 16 * 1024
MOST_BRACKETS: Final = 400
"""The parser takes seconds for brackets in brackets in brackets."""
BOOLEANS: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
TAG: Final = "tag:yaml.org,2002:"
CORE_SCALARS: Final = {
    "null": "|~|null|Null|NULL",
    "bool": "true|True|TRUE|false|False|FALSE",
    "int": "[-+]?[0-9]{1,300}|0x[0-9a-fA-F]{1,300}",
    "float": r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
}
"""Scalars that YAML 1.2 does not read as text, in the order in which they are tried."""
NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})


def read_frontmatter(text: str) -> dict[str, Any]:
    """The fields of a file. Scalars stay as they are written: versions of YAML differ about their types.

    Raises:
        ValueError: it has none, or they cannot be read.
        MissingExtra: PyYAML is not installed.
    """
    yaml = _yaml()
    return _load(text, yaml.BaseLoader)


def frontmatter_as_json(text: str) -> dict[str, Any]:
    """The fields of a file as JSON, with the types of YAML 1.2: `yes` and dates are texts.

    Raises:
        ValueError: it has none, they cannot be read, or JSON has no such value.
        MissingExtra: PyYAML is not installed.
    """
    yaml = _yaml()

    class CoreLoader(yaml.SafeLoader):  # type: ignore[misc, name-defined]
        """Resolves scalars by the core schema of YAML 1.2, and no aliases: a few can mean gigabytes."""

        yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("aliases are not supported")
            return super().compose_node(parent, index)

    for tag, pattern in CORE_SCALARS.items():
        CoreLoader.add_implicit_resolver(TAG + tag, re.compile(rf"(?:{pattern})\Z"), None)
    # YAML 1.1 would read 010 as 8.
    CoreLoader.add_constructor(TAG + "int", lambda loader, node: _integer(loader.construct_scalar(node)))
    fields = _load(text, CoreLoader)
    _check_json(fields)
    return fields


def _integer(text: str) -> int:
    return int(text, 16 if text.startswith("0x") else 10)


def _check_json(value: Any) -> None:
    if isinstance(value, dict):
        if not all(isinstance(name, str) for name in value):
            raise ValueError("its frontmatter has a field whose name is not text: quote it")
        for each in value.values():
            _check_json(each)
    elif isinstance(value, list):
        for each in value:
            _check_json(each)
    elif not (value is None or isinstance(value, str | bool | int | float)) or (
        isinstance(value, float) and not isfinite(value)
    ):
        raise ValueError(f"its frontmatter has a value that JSON does not have: {value!r:.40}: quote it")


def _yaml() -> Any:
    try:
        import yaml
    except ImportError as error:
        raise MissingExtra('skills need PyYAML: pip install "assay-mcp[skills]"') from error
    return yaml


def _load(text: str, loader: Any) -> dict[str, Any]:
    yaml = _yaml()
    block = _block(text)
    if block.count("[") + block.count("{") > MOST_BRACKETS:
        raise ValueError(f"its frontmatter has more than {MOST_BRACKETS} brackets")
    try:
        fields = yaml.load(block, Loader=loader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        problem = getattr(error, "problem", None) or str(error) or "it is nested too deeply"
        raise ValueError(f"its frontmatter is not valid YAML: {problem}") from None
    if not isinstance(fields, dict):
        raise ValueError("its frontmatter has no fields")
    return fields


def _block(text: str) -> str:
    lines = iter(text.removeprefix("\ufeff")[: MOST_CHARACTERS + 1].splitlines())
    if next(lines, "").rstrip() != FENCE:
        raise ValueError(f"it does not begin with frontmatter: a line {FENCE}")
    block: list[str] = []
    for line in lines:
        if line.rstrip() == FENCE:
            return "\n".join(block)
        block.append(line)
    raise ValueError(f"its frontmatter does not end within {MOST_CHARACTERS} characters")


def differing_field(fields: dict[str, Any], expected: dict[str, Any]) -> str | None:
    """The name of a field that the file and the entry do not have in common; None if they are equal."""
    for name in (*expected, *fields):
        if name not in fields or name not in expected or not _is_same(fields[name], expected[name]):
            return str(name)
    return None


def _is_same(written: Any, value: Any) -> bool:
    """Whether YAML without types can mean this JSON. An alias that contains itself ends with the JSON."""
    if isinstance(value, dict):
        return (
            isinstance(written, dict)
            and written.keys() == value.keys()
            and all(_is_same(written[name], value[name]) for name in value)
        )
    if isinstance(value, list):
        return isinstance(written, list) and len(written) == len(value) and all(map(_is_same, written, value))
    return isinstance(written, str) and _is_same_scalar(written, value)


def _is_same_scalar(text: str, value: Any) -> bool:
    if value is None:
        return text in NULLS
    if isinstance(value, bool):
        return BOOLEANS.get(text.lower()) is value
    if isinstance(value, str):
        return text == value
    return bool(_number(text) == value)


def _number(text: str) -> float | None:
    if len(text) > 400:  # `int` takes long, or raises, for thousands of digits
        return None
    try:
        return int(text, 0)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return None
