"""The YAML at the beginning of a Markdown file, compared with JSON."""

from __future__ import annotations

from typing import Any, Final

from assay.model.error import MissingExtra

FENCE: Final = "---"
MOST_CHARACTERS: Final = 16 * 1024
MOST_BRACKETS: Final = 400
"""The parser takes seconds for brackets in brackets in brackets."""
BOOLEANS: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})


def read_frontmatter(text: str) -> dict[str, Any]:
    """The fields of a file. Scalars stay as they are written: versions of YAML differ about their types.

    Raises:
        ValueError: it has none, or they cannot be read.
        MissingExtra: PyYAML is not installed.
    """
    try:
        import yaml
    except ImportError as error:
        raise MissingExtra('skills need PyYAML: pip install "assay-mcp[skills]"') from error
    block = _block(text)
    if block.count("[") + block.count("{") > MOST_BRACKETS:
        raise ValueError(f"its frontmatter has more than {MOST_BRACKETS} brackets")
    try:
        fields = yaml.load(block, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError) as error:
        problem = getattr(error, "problem", None) or "it is nested too deeply"
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
