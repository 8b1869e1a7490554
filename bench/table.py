"""A result as tables, in plain text and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final

from .client_load import LABELS as CLIENTS
from .client_load import MANY
from .profile_load import PARTS
from .result import ClientSample, Result, Sample
from .subject import SUBJECTS, TIMES
from .target import ALSO, CLIENT_TARGETS, TARGETS, Target, judge

Rows = list[list[str]]
TITLES: Final = {
    "http": "HTTP",
    "http_per_request": "HTTP, 2026-07-28",
    "stdio": "stdio, on one core",
    "stdio_free": "stdio, free",
}
WIRES: Final = {"http": "Streamable HTTP", "ws": "WebSocket"}
LOAD_HEAD: Final = ("calls per second", "p50", "p99", "server CPU", "CPU per call", "client CPU", "RSS")
CALLS: Final = {
    "http": "client, HTTP, one call at a time",
    f"http {MANY}": f"client, HTTP, {MANY} calls at once",
    "stdio": "client, stdio, one call at a time",
    "memory": "client, in memory, one call at a time",
}
CLIENT_BOUND: Final = 0.9
"""Share of a core above which the load generator may be the bottleneck instead of the server."""
QUIET: Final = 0.15
"""Share of a core that other work may take, including the kernel's interrupts."""


def target_rows(result: Result, targets: Sequence[Target] = TARGETS) -> Rows:
    head = ["measure", "needed", "measured", "verdict"]
    verdicts = judge(result, targets)
    return [head, *([v.target.measure, v.target.requirement, v.measured, v.word] for v in verdicts)]


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


def client_rows(result: Result, kind: str) -> Rows:
    rows = [[CALLS[kind], "calls per second", "p50", "p99", "client CPU per call"]]
    samples = result.clients.get(kind, {})
    rows += [[CLIENTS[name], *client_cells(samples[name])] for name in CLIENTS if name in samples]
    return rows


def client_cells(samples: Sequence[ClientSample]) -> list[str]:
    rates = [sample.rate for sample in samples]
    return [
        f"{median(rates):,.0f} ({min(rates):,.0f} to {max(rates):,.0f})",
        f"{median(s.p50_us for s in samples):,.0f} µs",
        f"{median(s.p99_us for s in samples):,.0f} µs",
        f"{median(s.cpu_us for s in samples):,.0f} µs",
    ]


def start_rows(result: Result) -> Rows:
    rows = [["starting a client", "median", "least"]]
    titles = {"bare": "import asyncio, msgspec", "client": "from assay import Client"}
    times = {titles[name]: values for name, values in result.import_ms.items()}
    times |= {"assay tools, more than the server's start": result.listing_ms}
    rows += [[title, f"{median(ms):.1f} ms", f"{min(ms):.1f} ms"] for title, ms in times.items() if ms]
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
        *([f"clients: {result.clients_run}"] if result.clients_run else []),
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


def client_text(result: Result) -> str:
    """The tables of a run that measured only clients."""
    parts = [
        "\n".join(machine_lines(result)),
        *(as_text(client_rows(result, kind)) for kind in CALLS),
        as_text(start_rows(result)),
        as_text(target_rows(result, CLIENT_TARGETS)),
    ]
    parts += [f"void: {reason}" for reason in result.voids]
    return "\n\n".join(parts)


def whole_text(result: Result) -> str:
    parts = [
        "\n".join(machine_lines(result)),
        *(as_text(load_rows(result, transport)) for transport in TITLES),
        as_text(wire_rows(result)),
        as_text(profile_rows(result)),
        *(as_text(client_rows(result, kind)) for kind in CALLS),
        as_text(start_rows(result)),
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
