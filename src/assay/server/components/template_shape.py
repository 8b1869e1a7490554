"""The shape of a URI template: equal for templates that match the same URIs."""

from __future__ import annotations

import re
from typing import Final

EXPRESSION: Final = r"\{([+#./;?&]?)([^}]*)\}"
FOLLOWING_QUERY: Final = r"(\{[?&][^}]*)\}\{&"
NAME: Final = r"^[^*:]*"
NAMED: Final = frozenset(";?&")
"""Operators that write the names of their variables into the URI."""


def template_shape(text: str) -> str:
    """The template without the names of variables that do not occur in its URIs. Those that do come in any
    order, and a query continues over adjacent expressions."""
    joined, count = text, 1
    while count:
        joined, count = re.subn(FOLLOWING_QUERY, r"\1,", joined)
    return re.sub(EXPRESSION, _expression_shape, joined)


def _expression_shape(match: re.Match[str]) -> str:
    operator, variables = match[1], match[2].split(",")
    if operator in NAMED:
        variables = sorted(variables)
    else:
        variables = [re.sub(NAME, "", variable) for variable in variables]
    return f"{{{operator}{','.join(variables)}}}"
