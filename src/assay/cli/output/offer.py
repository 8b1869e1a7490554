"""What a server offers, in lines: tools, resources, templates and prompts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec

from assay.cli.calls.schema import describe, properties, required, resolve
from assay.model.visible import visible

from .layout import indented, table

if TYPE_CHECKING:
    from assay.client.client import Client
    from assay.model.definition import (
        PromptDefinition,
        ResourceDefinition,
        TemplateDefinition,
        ToolDefinition,
    )

ARGUMENTS: Final = 30
"""Arguments in the line of a tool."""
HINTS: Final = {
    "read_only_hint": "read-only",
    "destructive_hint": "destructive",
    "idempotent_hint": "idempotent",
    "open_world_hint": "open world",
}


def server_line(client: Client, count: str) -> str:
    info = client.server_info
    name = "server" if info is None else f"{info.title or info.name} {info.version}"
    return f"{name}, protocol {client.revision}: {count}"


def counted(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number or 'no'} {noun}s"


# Tools.


def tool_lines(tool: ToolDefinition, columns: int | None) -> Iterator[str]:
    """A tool in the form in which it is called, and what it does."""
    yield from indented(visible(f"{tool.name} {_signature(tool.input_schema)}").strip(), "", columns, " " * 8)
    text = tool.description or tool.title
    if text:
        yield from indented(text.strip().split("\n\n")[0], "    ", columns)


def _signature(schema: Any) -> str:
    names, needed = properties(schema, schema), required(resolve(schema, schema))
    ordered = sorted(names, key=lambda name: name not in needed)
    words = [
        f"{name}=<{describe(names[name], schema)}>"
        if name in needed
        else f"[{name}=<{describe(names[name], schema)}>]"
        for name in ordered[:ARGUMENTS]
    ]
    return " ".join([*words, *(["…"] if len(ordered) > ARGUMENTS else [])])


def tool_page(tool: ToolDefinition, columns: int | None) -> Iterator[str]:
    """Everything about one tool."""
    yield visible(tool.name if tool.title in (None, tool.name) else f"{tool.name}: {tool.title}")
    if tool.description:
        yield from indented(tool.description, "  ", columns)
    hints = [text for name, text in HINTS.items() if tool.annotations and getattr(tool.annotations, name)]
    if hints:
        yield f"  hints of the server: {', '.join(hints)}"
    names = properties(tool.input_schema, tool.input_schema)
    yield "\narguments:" if names else "\nno arguments"
    needed = required(resolve(tool.input_schema, tool.input_schema))
    for name, schema in names.items():
        yield from _argument_lines(name, schema, tool.input_schema, name in needed, columns)
    if tool.output_schema is not None:
        yield "\nresult:"
        yield from indented(pretty(tool.output_schema), "  ", columns)


def _argument_lines(name: str, schema: Any, root: Any, needed: bool, columns: int | None) -> Iterator[str]:
    entry = resolve(schema, root)
    default = f", default {msgspec.json.encode(entry['default']).decode()}" if "default" in entry else ""
    yield visible(f"  {name}: {describe(schema, root)}{'' if needed else ', optional'}{default}")
    if isinstance(text := entry.get("description"), str):
        yield from indented(text, "      ", columns)


# Resources and prompts.


def resource_lines(resource: ResourceDefinition | TemplateDefinition, columns: int | None) -> Iterator[str]:
    uri = str(getattr(resource, "uri", None) or getattr(resource, "uri_template", ""))
    details = [resource.mime_type or "", _size(getattr(resource, "size", None))]
    kind = ", ".join(filter(None, details))
    yield visible(f"{uri}  ({kind})" if kind else uri)
    name = resource.title or resource.name
    text = f"{name}: {resource.description}" if resource.description else name
    yield from indented(text.strip().split("\n\n")[0], "    ", columns)


def _size(size: int | None) -> str:
    return "" if size is None else f"{size} bytes"


def prompt_lines(prompt: PromptDefinition, columns: int | None) -> Iterator[str]:
    arguments = prompt.arguments or []
    words = [f"{item.name}=…" if item.required else f"[{item.name}=…]" for item in arguments]
    yield visible(" ".join([prompt.name, *words]))
    if text := prompt.description or prompt.title:
        yield from indented(text.strip().split("\n\n")[0], "    ", columns)
    described = [(item.name, item.description) for item in arguments if item.description]
    yield from table(((visible(name), visible(text)) for name, text in described if text), "      ")


def pretty(value: Any) -> str:
    """JSON for people and programs."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
