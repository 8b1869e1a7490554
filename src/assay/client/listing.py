"""Lists of a server: their pages, in types that accept fields of later revisions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Raw, Struct, field

from assay.model.client_error import ClientError, InvalidAnswer
from assay.model.client_limits import ClientLimits
from assay.model.definition import (
    PromptDefinition,
    ResourceDefinition,
    TemplateDefinition,
    ToolAnnotations,
    ToolDefinition,
)

T = TypeVar("T")


class StaleCursor(ClientError):
    """The session that the cursor belongs to has ended."""


class _AnyAnnotations(ToolAnnotations, forbid_unknown_fields=False, rename="camel", kw_only=True):
    """As `ToolAnnotations`, which authors may not misspell; but servers may know more hints."""


_AnyTool = msgspec.defstruct(
    "ToolDefinition",
    [("annotations", _AnyAnnotations | None, None)],
    bases=(ToolDefinition,),
    rename="camel",
    kw_only=True,
)


class Page(Struct, rename="camel", kw_only=True):
    next_cursor: str | None = None


class _Tools(Page):
    items: list[_AnyTool] = field(name="tools")  # type: ignore[valid-type]


class _Resources(Page):
    items: list[ResourceDefinition] = field(name="resources")


class _Templates(Page):
    items: list[TemplateDefinition] = field(name="resourceTemplates")


class _Prompts(Page):
    items: list[PromptDefinition] = field(name="prompts")


PAGES: Final[dict[str, type[Any]]] = {
    "tools/list": _Tools,
    "resources/list": _Resources,
    "resources/templates/list": _Templates,
    "prompts/list": _Prompts,
}


def decode_result(raw: Raw, expected: type[T], method: str) -> T:
    """
    Raises:
        InvalidAnswer: it has another form.
    """
    try:
        return msgspec.json.decode(raw, type=expected)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidAnswer(f"the server's answer to {method} is invalid: {error}") from None


Requests = Callable[[str, dict[str, Any]], Awaitable[Raw]]


async def collect(
    method: str, request: Requests, limits: ClientLimits, page: type[Any] | None = None
) -> list[Any]:
    """All entries of a list, over its pages; from the beginning again if the session ends between two.

    Raises:
        InvalidAnswer: the list does not end within the limits, or a page is invalid.
    """
    page = page or PAGES[method]
    try:
        return await _collect(method, request, limits, page)
    except StaleCursor:
        return await _collect(method, request, limits, page)


async def _collect(method: str, request: Requests, limits: ClientLimits, expected: type[Any]) -> list[Any]:
    items: list[Any] = []
    params: dict[str, Any] = {}
    size = 0
    for _ in range(limits.pages):
        raw = await request(method, params)
        size += len(memoryview(raw))
        if size > limits.list_bytes:
            raise InvalidAnswer(f"{method} has more than {limits.list_bytes} bytes, the limit list_bytes")
        page = decode_result(raw, expected, method)
        items += page.items
        if len(items) > limits.items:
            raise InvalidAnswer(f"{method} has more than {limits.items} entries, the limit items")
        # An empty cursor is a cursor; only an absent one ends the list.
        if page.next_cursor is None:
            return items
        if page.next_cursor == params.get("cursor"):
            raise InvalidAnswer(f"{method} does not end: the server repeats a cursor")
        params = {"cursor": page.next_cursor}
    raise InvalidAnswer(f"{method} has more than {limits.pages} pages, the limit pages")
