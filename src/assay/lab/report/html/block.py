"""Text of any origin in a page: escaping, and templates that escape it."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from assay.model.visible import visible_lines

# Inside a script element, only these could end it or open a comment.
_ESCAPES: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def block(value: Any) -> str:
    """A value as JSON for a script element with data: ASCII without markup."""
    text = json.dumps(value, separators=(",", ":"))
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def ticked(text: str) -> Markup:
    """The text with parts in backticks as code elements."""
    parts = plain(text).split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if n % 2 else part for n, part in enumerate(parts)
    )


def plain(text: str) -> str:
    """The text with invisible characters escaped."""
    return visible_lines(text)


def _written(value: object) -> object:
    """A value as a template writes it: every text is from a stored run, which may come from anybody."""
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def template(path: Path, **filters: Callable[..., object]) -> Template:
    """A template with these filters, which escapes every value that is not `Markup`."""
    environment = Environment(
        finalize=_written,
        loader=FileSystemLoader(path.parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(filters)
    return environment.get_template(path.name)


def as_source(text: str) -> str:
    """The source expression of a Content-Security-Policy that allows this script or style sheet."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
