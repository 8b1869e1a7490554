"""The result as an SVG picture with two bar charts."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Final

from .result import Result
from .subject import ASSAY, ASSAY_DEF, ROOT, SUBJECTS, TIMES

PICTURE: Final = ROOT / "docs" / "img" / "bench.svg"
WIDTH, LEFT, RIGHT = 760, 170, 90
BAR, GAP, TITLE = 20, 8, 44
OURS, THEIRS = "#0b7a75", "#9aa5b1"
PANELS: Final = {
    "http": "HTTP tools/call per second, 32 connections",
    "stdio": "stdio tools/call per second, one at a time, one core",
}


def panel(result: Result, transport: str, top: int) -> tuple[list[str], int]:
    """The shapes of one panel, and the top of the next."""
    rates = {s: rate for s in SUBJECTS if (rate := result.rate(transport, s.name)) is not None}
    longest = max(rates.values(), default=1.0)
    shapes = [text(LEFT, top + 24, PANELS[transport], weight="bold")]
    top += TITLE
    for subject, rate in rates.items():
        width = max(1.0, rate / longest * (WIDTH - LEFT - RIGHT))
        colour = OURS if subject.name in (ASSAY, ASSAY_DEF) else THEIRS
        middle = top + BAR - 5
        shapes += [
            text(LEFT - 8, middle, subject.label, anchor="end"),
            f'<rect x="{LEFT}" y="{top}" width="{width:.1f}" height="{BAR}" rx="2" fill="{colour}"/>',
            text(LEFT + width + 6, middle, f"{rate:,.0f}"),
        ]
        top += BAR + GAP
    return shapes, top


def text(x: float, y: float, content: str, *, anchor: str = "start", weight: str = "normal") -> str:
    return (
        f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}" font-weight="{weight}" fill="#1f2933">'
        f"{escape(content)}</text>"
    )


def draw(result: Result) -> str:
    shapes: list[str] = []
    top = 0
    for transport in PANELS:
        more, top = panel(result, transport, top)
        shapes += more
    machine = f"{result.machine['cores']} {TIMES} {result.machine['cpu']}"
    shapes.append(text(LEFT, top + 20, f"{machine}, {result.versions['python']}, {result.mode} run"))
    height = top + 36
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="system-ui, sans-serif" font-size="13" role="img">'
    )
    title = "<title>Calls per second of Assay and its peers</title>"
    ground = f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    return "\n".join([head, title, ground, *shapes, "</svg>", ""])


def write(result: Result, path: Path = PICTURE) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(draw(result), "utf-8")
