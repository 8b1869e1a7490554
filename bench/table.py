"""A result as tables, in plain text and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final

from .profile_load import PARTS
from .result import Result, Sample
from .subject import SUBJECTS, TIMES
from .target import ALSO, judge

Rows = list[list[str]]
TITLES: Final = {
    "http": "HTTP",
    "http_per_request": "HTTP, 2026-07-28",
    "stdio": "stdio, on one core",
    "stdio_free": "stdio, free",
}
WIRES: Final = {"http": "Streamable HTTP", "ws": "WebSocket"}
LOAD_HEAD: Final = ("calls per second", "p50", "p99", "server CPU", "CPU per call", "client CPU", "RSS")
CLIENT_BOUND: Final = 0.9
"""Share of a core above which the load generator may be the bottleneck instead of the server."""
QUIET: Final = 0.15
"""Share of a core that other work may take, including the kernel's interrupts."""


def target_rows(result: Result) -> Rows:
    head = ["measure", "needed", "measured", "verdict"]
    return [head, *([v.target.measure, v.target.requirement, v.measured, v.word] for v in judge(result))]


def also_rows(result: Result) -> Rows:
    rows = [["also measured", "ratio"]]
    for title, measure in ALSO:
        value = measure(result)
        rows.append([title, "void" if value is None else f"{value:.2f} {TIMES}"])
    return rows


def load_rows(result: Result, transport: str) -> Rows:
    rows = [[TITLES[transport], *LOAD_HEAD]]
    for subject in SUBJECTS:
        samples = result.samples(transport, subject.name)
        if samples:
            rows.append([subject.label, *load_cells(samples)])
    return rows


def load_cells(samples: Sequence[Sample]) -> list[str]:
    rates = [sample.rate for sample in samples]
    client = median(sample.client_cpu for sample in samples)
    return [
        f"{median(rates):,.0f} ({min(rates):,.0f} to {max(rates):,.0f})",
        f"{median(s.p50_us for s in samples):,.0f} µs",
        f"{median(s.p99_us for s in samples):,.0f} µs",
        f"{median(s.server_cpu for s in samples):.0%}",
        f"{median(s.cpu_us for s in samples):,.0f} µs",
        f"{client:.0%}{' client-bound' if client >= CLIENT_BOUND else ''}",
        f"{max(s.rss_mb for s in samples):.1f} MB",
    ]


def wire_rows(result: Result) -> Rows:
    rows = [["Assay on its own server", *LOAD_HEAD]]
    for name, samples in result.wires.items():
        wire, _, connections = name.partition(" ")
        count = "one connection" if connections == "1" else f"{connections} connections"
        rows.append([f"{WIRES[wire]}, {count}", *load_cells(samples)])
    return rows


def profile_rows(result: Result) -> Rows:
    rows = [["assay serve", *LOAD_HEAD]]
    rows += [[PARTS[name].label, *load_cells(samples)] for name, samples in result.profile.items()]
    return rows


def spawn_rows(result: Result) -> Rows:
    rows = [["spawn to initialize", "median", "least"]]
    for subject in SUBJECTS:
        times = [ms for spawns in result.spawn.get(subject.name, []) for ms in spawns.ms]
        if times:
            rows.append([subject.label, f"{median(times):.0f} ms", f"{min(times):.0f} ms"])
    return rows


def tool_rows(result: Result) -> Rows:
    rows = [["registered tools", "CPU per call, least", "median"]]
    for count, batches in result.tools_us.items():
        rows.append([f"{int(count):,}", f"{min(batches):.1f} µs", f"{median(batches):.1f} µs"])
    return rows


def state_rows(result: Result) -> Rows:
    rows = [["1 KB of request state, signed and opened", "median", "least"]]
    if result.state_us:
        rows.append(["Assay", f"{median(result.state_us):.1f} µs", f"{min(result.state_us):.1f} µs"])
    return rows


def token_rows(result: Result) -> Rows:
    rows = [["token of an accepted request", "median", "least"]]
    for kind, batches in result.token_us.items():
        rows.append([kind, f"{median(batches):.1f} µs", f"{min(batches):.1f} µs"])
    return rows


def machine_lines(result: Result) -> list[str]:
    machine = result.machine
    return [
        f"{result.mode} run of {result.started}, {result.seconds:.0f} s, {result.settings['rounds']} rounds",
        f"{machine['cores']} {TIMES} {machine['cpu']}, {machine['memory_gb']} GB, {machine['system']}, "
        f"kernel {machine['kernel']}, load {machine['load_before']} before the run",
        f"other work during the run: {machine['other_work']:.0%} of one core{disturbed(result)}",
        *(f"{name}: {version}" for name, version in result.versions.items()),
    ]


def disturbed(result: Result) -> str:
    """Other work slows the fastest subjects most, so ratios to them look too good."""
    return "" if result.machine["other_work"] <= QUIET else ": DISTURBED, run it again on a quiet machine"


def as_text(rows: Rows) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        first, *rest = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join([first, *rest]).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def as_markdown(rows: Rows) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|---" * len(rows[0]) + "|")
    return "\n".join(lines)


def whole_text(result: Result) -> str:
    parts = [
        "\n".join(machine_lines(result)),
        *(as_text(load_rows(result, transport)) for transport in TITLES),
        as_text(wire_rows(result)),
        as_text(profile_rows(result)),
        as_text(spawn_rows(result)),
        as_text(tool_rows(result)),
        as_text(state_rows(result)),
        as_text(token_rows(result)),
        as_text(also_rows(result)),
        as_text(target_rows(result)),
    ]
    if note := disturbed(result):
        parts.append(note.lstrip(": "))
    if result.voids:
        parts.append("\n".join(f"void: {reason}" for reason in result.voids))
    return "\n\n".join(parts)
