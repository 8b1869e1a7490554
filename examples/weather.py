"""A small weather server: two tools, a resource template and a prompt.

python examples/weather.py                                serve on stdio
assay serve examples/weather.py --transport http          serve at http://localhost:3000/mcp
uvicorn examples.weather:app                              the same on an ASGI server of your choice
"""

from dataclasses import dataclass

from assay import Context, ResourceNotFound, Server

server = Server("weather", version="1.0.0")


@dataclass
class Forecast:
    city: str
    degrees: list[int]


@server.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(title="Forecast", annotations={"readOnlyHint": True})
async def forecast(city: str, ctx: Context, days: int = 3) -> Forecast:
    """Forecast the temperature of the coming days.

    Args:
        city: Where.
        days: How many days.
    """
    degrees: list[int] = []
    for day in range(days):
        await ctx.progress(day + 1, total=days, message="fetching")
        degrees.append(18 + (len(city) + day) % 5)
    return Forecast(city, degrees)


NOTES = {"clouds": "# Clouds\n\nHigh clouds mean a change of weather."}


@server.resource("notes://{name}", mime_type="text/markdown")
def note(name: str) -> str:
    """A note about the weather."""
    if name not in NOTES:
        raise ResourceNotFound(f"notes://{name}")
    return NOTES[name]


@server.completion("notes://{name}", "name")
def note_names() -> list[str]:
    return list(NOTES)


@server.prompt
def review(code: str, language: str = "python") -> str:
    """Ask for a review of a weather station's code."""
    return f"Please review this {language} code:\n\n{code}"


app = server.asgi()

if __name__ == "__main__":
    server.run()
