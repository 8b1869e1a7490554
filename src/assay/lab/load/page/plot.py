"""Plots as SVG: lines over an axis, with ticks that people would choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from math import ceil, floor, log10
from typing import Final

from msgspec import Struct

WIDTH: Final = 720
HEIGHT: Final = 240
LEFT, RIGHT, TOP, BOTTOM = 70, 26, 12, 34
STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
MOST_TICKS: Final = 6

Place = tuple[float, float]


class Line(Struct, frozen=True):
    name: str
    style: str
    """A class of the style sheet: `a`, `b`, `c`."""
    points: list[Place]


class Axis(Struct, frozen=True):
    title: str
    ticks: list[float]
    text: Callable[[float], str]
    lowest: float
    highest: float
    logarithmic: bool = False

    def share(self, value: float) -> float:
        """Where a value is between the lowest and the highest, from 0 to 1."""
        low, high = self._scaled(self.lowest), self._scaled(self.highest)
        return (self._scaled(value) - low) / (high - low) if high > low else 0.0

    def _scaled(self, value: float) -> float:
        return log10(max(value, self.lowest)) if self.logarithmic else value


def linear(title: str, values: Sequence[float], text: Callable[[float], str] = "{:g}".format) -> Axis:
    """An axis from zero."""
    highest = max(values, default=0.0) or 1.0
    step = _step(highest)
    count = ceil(highest / step - 1e-9)
    return Axis(title, [step * number for number in range(count + 1)], text, 0.0, step * count)


def _step(highest: float) -> float:
    rough = highest / (MOST_TICKS - 1)
    power = 10.0 ** floor(log10(rough))
    return next(step * power for step in STEPS if step * power >= rough * (1 - 1e-9))


def logarithmic(title: str, values: Sequence[float], text: Callable[[float], str] = "{:g}".format) -> Axis:
    positive = [value for value in values if value > 0] or [1.0]
    low, high = floor(log10(min(positive))), ceil(log10(max(positive)))
    high = max(high, low + 1)
    ticks = [10.0**power for power in range(low, high + 1)]
    return Axis(title, ticks, text, ticks[0], ticks[-1], logarithmic=True)


def plot(title: str, across: Axis, up: Axis, lines: Sequence[Line]) -> str:
    """An SVG element."""
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">',
        *(_row(up, tick) for tick in up.ticks),
        *(_column(across, tick) for tick in across.ticks),
        *(_path(line, across, up) for line in lines if line.points),
        f'<text class="title" x="{LEFT}" y="{HEIGHT - 2}">{escape(across.title)}</text>',
        "</svg>",
    ]
    return "".join(parts)


def _x(axis: Axis, value: float) -> float:
    return LEFT + axis.share(value) * (WIDTH - LEFT - RIGHT)


def _y(axis: Axis, value: float) -> float:
    return HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - TOP - BOTTOM)


def _row(axis: Axis, tick: float) -> str:
    y = _y(axis, tick)
    text = f'<text x="{LEFT - 6}" y="{y + 4:.1f}" class="right">{escape(axis.text(tick))}</text>'
    return f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>{text}'


def _column(axis: Axis, tick: float) -> str:
    x = _x(axis, tick)
    return f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 15}" class="middle">{escape(axis.text(tick))}</text>'


def _path(line: Line, across: Axis, up: Axis) -> str:
    if len(line.points) == 1:
        [(x, y)] = line.points
        return f'<circle class="{line.style}" cx="{_x(across, x):.1f}" cy="{_y(up, y):.1f}" r="3"/>'
    places = " ".join(f"{_x(across, x):.1f},{_y(up, y):.1f}" for x, y in line.points)
    return f'<polyline class="{line.style}" points="{places}"><title>{escape(line.name)}</title></polyline>'
