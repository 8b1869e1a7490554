"""Return values of well-known libraries: pictures and tables become content.

The libraries are never imported here. A value of one exists only after its author has imported it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from io import BytesIO
from typing import Any, Final

import msgspec
from msgspec import Raw

from assay.model.content import BLOCKS, Image
from assay.server.types.custom_type import write_custom

from .bad_output import BadOutput

PNG_MODES: Final = frozenset({"1", "L", "LA", "I;16", "P", "RGB", "RGBA"})
ALPHA_MODES: Final = {"PA": "RGBA", "RGBa": "RGBA", "La": "LA"}
"""Modes with transparency that PNG lacks, and what they are converted to; all others become RGB."""
RECORDS: Final = list[dict[str, Any]]
"""What a table is in JSON: one object per row."""


class Table:
    """A data frame as JSON: one object per row."""

    __slots__ = ("encoded",)

    def __init__(self, encoded: bytes) -> None:
        self.encoded = encoded


def _picture(image: Any) -> Image:
    if image.mode not in PNG_MODES:
        image = image.convert(ALPHA_MODES.get(image.mode, "RGB"))
    buffer = BytesIO()
    image.save(buffer, format="PNG")
    return Image(buffer.getvalue(), "image/png")


def _figure(figure: Any) -> Image:
    buffer = BytesIO()
    figure.savefig(buffer, format="png")
    return Image(buffer.getvalue(), "image/png")


def _pandas_table(frame: Any) -> Table:
    _check_columns(frame)
    # As objects, because only these can be None: other columns write NaN or NaT for what is missing.
    values = frame.astype(object)
    return _table(values.where(frame.notna(), None).to_dict(orient="records"))


def _polars_table(frame: Any) -> Table:
    return _table(frame.to_dicts())


def _check_columns(frame: Any) -> None:
    """In a record, two columns of the same name would become one."""
    names = [str(column) for column in frame.columns]
    if len(set(names)) < len(names):
        name = next(name for name in names if names.count(name) > 1)
        expected = "a data frame with a different name for each column"
        raise BadOutput(frame, expected, f"rename one of the columns {name!r}")


def _table(rows: list[dict[Any, Any]]) -> Table:
    records = [{str(column): value for column, value in row.items()} for row in rows]
    return Table(msgspec.json.encode(records, enc_hook=_write_cell))


def _write_cell(value: Any) -> Any:
    """What the libraries have instead of Python's own types: times as ISO 8601, numbers as numbers."""
    for method in ("isoformat", "tolist", "to_list"):
        convert = getattr(value, method, None)
        if callable(convert):
            return convert()
    return str(value)


ADAPTERS: Final[tuple[tuple[str, str, Callable[[Any], Image | Table]], ...]] = (
    ("PIL.Image", "Image", _picture),
    ("matplotlib.figure", "Figure", _figure),
    ("pandas", "DataFrame", _pandas_table),
    ("polars", "DataFrame", _polars_table),
)
"""Module, class, and how a value of the class becomes content."""
TABLES: Final = (_pandas_table, _polars_table)
USUAL: Final = (str, int, float, dict, *BLOCKS)
HINTS: Final = (
    ("polars", "LazyFrame", "return frame.collect()"),
    ("polars", "Series", "return series.to_list()"),
    ("pandas", "Series", "return series.to_list()"),
    ("numpy", "ndarray", "return array.tolist()"),
    ("numpy", "generic", "return value.item()"),
    ("matplotlib.axes", "Axes", "return axes.figure"),
)
"""Module and class of values that are refused, and what to write instead."""


def adapter_of(kind: Any) -> Callable[[Any], Image | Table] | None:
    """How values of a class become content; None if it is not a known class of a loaded library."""
    return next((adapt_value for module, name, adapt_value in ADAPTERS if _is(kind, module, name)), None)


def hint_for(kind: type) -> str | None:
    """What to write for a value that is not content, if its class is a known one."""
    return next((hint for module, name, hint in HINTS if _is(kind, module, name)), None)


def _is(kind: Any, module: str, name: str) -> bool:
    known = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(known, type) and issubclass(kind, known)


def is_table(annotation: Any) -> bool:
    return adapter_of(annotation) in TABLES


def adapt(value: Any) -> Any:
    """A picture or table of a library as content, also inside a list; any other value unchanged."""
    if isinstance(value, list | tuple):
        adapted = [_adapt_one(item) for item in value]
        return adapted if any(map(_differs, adapted, value)) else value
    return _adapt_one(value)


def _adapt_one(value: Any) -> Any:
    if value is None or isinstance(value, USUAL):
        return value
    adapt_value = adapter_of(type(value))
    return value if adapt_value is None else adapt_value(value)


def _differs(adapted: Any, value: Any) -> bool:
    return adapted is not value


def adapting(function: Callable[..., Any]) -> Callable[..., Any]:
    """A `def` handler whose value is adapted in its thread: to encode a picture takes long."""

    @functools.wraps(function)
    def call(**arguments: Any) -> Any:
        return adapt(function(**arguments))

    return call


def write_value(value: Any) -> Any:
    """msgspec's `enc_hook` for return values: tables, and what `write_custom` knows."""
    if is_table(type(value)):
        value = adapt(value)
    if isinstance(value, Table):
        return Raw(value.encoded)
    hint = hint_for(type(value))
    if hint is not None:
        raise NotImplementedError(f"{type(value).__qualname__} is not a JSON type: {hint}")
    return write_custom(value)
