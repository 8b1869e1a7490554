"""Text for messages about types and values: one line of bounded length."""

from __future__ import annotations

import re
from typing import Any, Final, get_args

_FIELD: Final = re.compile(r"FieldInfo\(annotation=NoneType, required=\w+,?\s?(.*?)\)(?=[,\]])")
_MODULES: Final = re.compile(r"\b(typing|pathlib|datetime|ipaddress|collections(?:\.abc)?|__main__)\.")
LONGEST: Final = 400
"""Characters of a message that quotes a value, which must not fill the context of the client's model."""


def one_line(text: str) -> str:
    """A text in one line, without its middle if it is long."""
    if len(text) > 4 * LONGEST:
        text = f"{text[: 2 * LONGEST]} … {text[-2 * LONGEST :]}"
    line = " ".join(text.split())
    if len(line) <= LONGEST:
        return line
    return f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"


def type_name(annotation: Any) -> str:
    """A type as its author wrote it, in one line."""
    if isinstance(annotation, type) and not get_args(annotation):
        return annotation.__qualname__.rpartition(".<locals>.")[2]
    return one_line(_FIELD.sub(r"Field(\1)", _MODULES.sub("", str(annotation))))
