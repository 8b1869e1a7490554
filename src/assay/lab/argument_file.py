"""The file of `--arguments`: for each tool, the sets of arguments to call it with.

{"tools": {"get_weather": [{"city": "London"}, {"city": "Paris", "unit": "celsius"}]}}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from .error import InvalidOptions

TOOLS: Final = "tools"
LARGEST: Final = 1024 * 1024
"""Bytes of the file."""
MOST_SETS: Final = 20
"""For one tool: each is called in every scenario that calls all tools."""
FORM: Final = '`assay arguments TARGET` writes such a file: {"tools": {"NAME": [{"ARGUMENT": VALUE}]}}'
Sets = dict[str, list[dict[str, Any]]]


def arguments_from(source: Path | Mapping[str, Sequence[Mapping[str, Any]]]) -> Sets:
    """The sets of arguments by tool.

    Raises:
        InvalidOptions: the file cannot be read, or the value is not of that form.
    """
    if not isinstance(source, Path):
        return _checked(source, "arguments")
    try:
        with source.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise InvalidOptions(f"cannot read {source}: {error.strerror}", FORM) from error
    if len(data) > LARGEST:
        raise InvalidOptions(f"{source}: larger than {LARGEST} bytes", "leave out tools, or long values")
    try:
        content = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidOptions(f"{source} is not JSON: {error}", FORM) from error
    if not isinstance(content, dict) or content.keys() != {TOOLS}:
        raise InvalidOptions(f"{source}: not an object with `{TOOLS}` alone", FORM)
    return _checked(content[TOOLS], str(source))


def _checked(tools: Any, place: str) -> Sets:
    if not isinstance(tools, Mapping):
        raise InvalidOptions(f"{place}: the tools are not an object", FORM)
    for name, sets in tools.items():
        is_list = isinstance(sets, Sequence) and not isinstance(sets, str)
        if not is_list or not all(isinstance(each, Mapping) for each in sets):
            raise InvalidOptions(f"{place}: {name}: not a list of objects", FORM)
        if len(sets) > MOST_SETS:
            problem = f"{place}: {name}: {len(sets)} sets of arguments, and {MOST_SETS} are allowed"
            raise InvalidOptions(problem, "leave some out")
    return {name: [dict(each) for each in sets] for name, sets in tools.items()}


def argument_file(sets: Mapping[str, Sequence[Mapping[str, Any]]]) -> bytes:
    """The content of a file with these sets."""
    return msgspec.json.format(msgspec.json.encode({TOOLS: sets}), indent=2) + b"\n"
