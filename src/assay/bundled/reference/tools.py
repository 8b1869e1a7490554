"""Tools that return text, structured results and each type of content, or fail in each way."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal
from zlib import crc32

from msgspec import Meta

from assay import (
    Audio,
    Contents,
    Context,
    EmbeddedResource,
    Image,
    ResourceLink,
    RpcError,
    Server,
    Text,
    ToolError,
    ToolResult,
)

from .app import DICE
from .files import DIAGRAM, MAIN_RS

READ_ONLY: Final = {"readOnlyHint": True, "openWorldHint": False}
SILENCE: Final = b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==")
EXACT: Final = 2**53
"""Whole floats below this are written as integers."""
WEATHER: Final = MappingProxyType(
    {"new york": (72, "Partly cloudy"), "phoenix": (85, "Sunny"), "london": (59, "Light rain")}
)
SKIES: Final = ("Sunny", "Partly cloudy", "Overcast", "Light rain", "Windy", "Snow")
WEATHER_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "temperature": {"type": "number", "description": "In degrees Fahrenheit"},
        "conditions": {"type": "string"},
    },
    "required": ["temperature", "conditions"],
}

APPLICATION_CODE: Final = -31000
"""Outside the range that JSON-RPC reserves."""

Block = Text | Image | Audio | ResourceLink | EmbeddedResource


@dataclass
class Total:
    total: float


@dataclass
class Roll:
    rolls: list[int]
    total: int
    at: str


async def echo(message: Annotated[str, "The text to return"]) -> str:
    """Echoes input text"""
    return message


async def add_up(a: float, b: float) -> Total:
    """Calculates sum of two numbers"""
    total = a + b
    if total in (float("inf"), float("-inf")):
        raise ToolError("the sum is too large for a number")
    return Total(int(total) if total.is_integer() and abs(total) < EXACT else total)


async def get_weather(location: Annotated[str, "City name or zip code"], ctx: Context) -> ToolResult:
    """Get current weather information for a location"""
    temperature, conditions = weather_in(location)
    await ctx.log("debug", f"looked up {location}", logger="weather")
    text = f"Current weather in {location}:\nTemperature: {temperature}°F\nConditions: {conditions}"
    weather = {"temperature": temperature, "conditions": conditions}
    return ToolResult([Text(text), Text(json.dumps(weather))], weather)


def weather_in(location: str) -> tuple[int, str]:
    """Made up, and always the same for a location."""
    if not location.strip():
        raise ToolError("location must not be empty")
    seed = crc32(location.strip().lower().encode("utf-8", "replace"))
    return WEATHER.get(location.strip().lower(), (40 + seed % 50, SKIES[seed % len(SKIES)]))


async def show_content(
    kind: Annotated[
        Literal["all", "text", "image", "audio", "resource_link", "resource"], "The type of content"
    ] = "all",
) -> list[Block]:
    """Returns every type of content, or one of them"""
    link = ResourceLink(
        MAIN_RS, "main.rs", mime_type="text/x-rust", description="Primary application entry point"
    )
    embedded = Contents("file:///embedded/hello.txt", text="Hello from inside.", mime_type="text/plain")
    blocks: Mapping[str, Block] = {
        "text": Text("Plain text."),
        "image": Image(DIAGRAM, "image/png"),
        "audio": Audio(SILENCE, "audio/wav"),
        "resource_link": link,
        "resource": EmbeddedResource(embedded),
    }
    return list(blocks.values()) if kind == "all" else [blocks[kind]]


async def fail(
    how: Annotated[
        Literal["tool", "protocol", "crash"], "As a tool result, as a JSON-RPC error, or unexpectedly"
    ] = "tool",
) -> str:
    """Fails on purpose"""
    if how == "tool":
        raise ToolError("This tool fails on purpose")
    if how == "protocol":
        raise RpcError(APPLICATION_CODE, "This call fails on purpose", {"how": how})
    raise RuntimeError("an error whose details stay in the server's log")


async def roll_dice(
    ctx: Context, dice: Annotated[int, Meta(ge=1, le=10, description="How many dice")] = 2
) -> Roll:
    """Rolls dice, and returns the time of the roll"""
    rolls = [ctx.random.randint(1, 6) for _ in range(dice)]
    return Roll(rolls, sum(rolls), ctx.clock.now().isoformat(timespec="milliseconds"))


def register(server: Server) -> None:
    read_only: dict[str, Any] = {"annotations": READ_ONLY}
    server.tool(title="Echo", **read_only)(echo)
    server.tool(name="sum", title="Sum Two Numbers", **read_only)(add_up)
    server.tool(title="Weather Information Provider", output_schema=WEATHER_SCHEMA, **read_only)(get_weather)
    server.tool(title="Show Content", **read_only)(show_content)
    server.tool(title="Fail", **read_only)(fail)
    server.tool(title="Roll Dice", ui=DICE, **read_only)(roll_dice)
