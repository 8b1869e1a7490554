"""Types that msgspec reads and writes through a hook: some of the standard library, and pydantic's."""

from __future__ import annotations

import copy
import functools
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin

import msgspec

from .problem import one_line, type_name

if TYPE_CHECKING:
    from .pydantic_adapter import PydanticAdapter
    from .text_type import TextType


TEXT_MODULES: Final = ("ipaddress", "pathlib", "re")
"""Where the classes of `text_type.py` come from."""


def _text_types() -> dict[Any, TextType]:
    # Imported here: most servers use none of these classes, and their modules take time to load.
    from .text_type import TEXT_TYPES

    return TEXT_TYPES


def is_text(annotation: Any) -> bool:
    cls = _class_of(annotation)
    if getattr(cls, "__module__", "").partition(".")[0] not in TEXT_MODULES:
        return False
    return cls in _text_types() and get_args(annotation) in ((), (str,))


def is_deque(annotation: Any) -> bool:
    return _class_of(annotation) is deque


def is_pydantic(annotation: Any) -> bool:
    """Whether a class is described and read by pydantic: a model, a URL, a secret and so on."""
    return isinstance(annotation, type) and hasattr(annotation, "__get_pydantic_core_schema__")


def _class_of(annotation: Any) -> Any:
    return get_origin(annotation) or annotation


def describe_custom(annotation: Any) -> dict[str, Any]:
    """msgspec's `schema_hook`."""
    if hasattr(annotation, "__assay_schema__"):
        described: dict[str, Any] = annotation.__assay_schema__
        return copy.deepcopy(described)
    if is_text(annotation):
        return {"type": "string", "format": _text_types()[_class_of(annotation)].format}
    if is_deque(annotation):
        return {"type": "array"}
    if is_pydantic(annotation):
        return _adapter(annotation).schema()
    raise NotImplementedError(f"{type_name(annotation)} is not a JSON type")


def read_custom(annotation: Any, value: Any) -> Any:
    """msgspec's `dec_hook`."""
    if is_text(annotation):
        return _read_text(annotation, value)
    if is_deque(annotation):
        return _read_deque(annotation, value)
    if is_pydantic(annotation):
        return _adapter(annotation).read_value(value)
    raise NotImplementedError(f"{type_name(annotation)} is not a JSON type")


def _read_deque(annotation: Any, value: Any) -> deque[Any]:
    try:
        return deque(msgspec.convert(value, list_of(annotation), dec_hook=read_custom))
    except msgspec.ValidationError as error:
        # msgspec adds the place of the whole; the place in it is added here.
        message, _, path = str(error).partition(" - at `$")
        raise ValueError(f"{path.rstrip('`')}: {message}" if path else message) from None


def _read_text(annotation: Any, value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError(f"Expected `str`, got `{_json_name(value)}`")
    try:
        return _text_types()[_class_of(annotation)].read(value)
    except ValueError as error:
        raise ValueError(one_line(str(error))) from None


def _json_name(value: Any) -> str:
    return {type(None): "null", list: "array", dict: "object"}.get(type(value), type(value).__name__)


def list_of(annotation: Any) -> Any:
    """`list[int]` of `deque[int]` and the like."""
    arguments: Any = get_args(annotation)
    return list[arguments] if arguments else list


def write_custom(value: Any) -> Any:
    """msgspec's `enc_hook`: any mapping becomes an object, and an iterator an array."""
    if isinstance(value, Mapping):
        return dict(value)
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json", by_alias=True)
    if (text := _text_types().get(type(value))) is not None:
        return text.write(value)
    if isinstance(value, deque | Iterator):
        return list(value)
    return _written_by_pydantic(value)


def _written_by_pydantic(value: Any) -> Any:
    if is_pydantic(type(value)):
        return sys.modules["pydantic_core"].to_jsonable_python(value)
    raise NotImplementedError(f"{type_name(type(value))} is not a JSON type")


@functools.cache
def _adapter(annotation: Any) -> PydanticAdapter:
    from .pydantic_adapter import PydanticAdapter

    return PydanticAdapter(annotation)
