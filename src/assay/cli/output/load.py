"""A load test on the terminal: a line each second, then the result."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from assay.cli.exit_code import CONCLUSIONS, CommandFailed, ExitCode
from assay.lab.live import Live
from assay.lab.load.comparison import Change, compare
from assay.lab.load.measurement import LoadProgress
from assay.lab.load.result import BadResult, Latency, LoadResult, dump_result, read_result

from .run import on_signal
from .stream import emit, emit_lines, say, say_over

COLUMNS = ("p50", "p90", "p95", "p99", "p999", "max")


async def show_load(live: Live[LoadProgress, LoadResult], options: argparse.Namespace) -> ExitCode:
    """
    Raises:
        LabError: nothing was measured.
    """
    stored = None if options.against is None else _stored(options.against)
    async with live:
        on_signal(live.interrupt)
        async for progress in live:
            say_over(progress_line(progress))
    result = live.result
    if sys.stderr.isatty():
        say("")
    _write(result, options)
    if options.json:
        emit(dump_result(result).decode())
    else:
        emit_lines(summary(result))
    changes = [] if stored is None else compare(result, stored, options.tolerance / 100)
    if changes:
        (say_each if options.json else emit_lines)(comparison(changes))
    code = CONCLUSIONS[result.conclusion]
    return ExitCode.DOES_NOT_CONFORM if code is ExitCode.OK and any(c.worse for c in changes) else code


def say_each(lines: Iterator[str]) -> None:
    for line in lines:
        say(line)


def _stored(path: Path) -> LoadResult:
    try:
        return read_result(path.read_bytes())
    except OSError as error:
        raise CommandFailed(ExitCode.USAGE, f"cannot read {path}: {error.strerror}") from error
    except BadResult as error:
        fix = "name a file that `assay load -o` has written"
        raise CommandFailed(ExitCode.USAGE, f"{path}: {error}", fix) from error


def progress_line(progress: LoadProgress) -> str:
    latency = "" if progress.p50 is None else f", p50 {_ms(progress.p50)}, p99 {_ms(progress.p99 or 0.0)}"
    memory = "" if progress.rss is None else f", server {_size(progress.rss)}"
    errors = f", {progress.errors} errors" if progress.errors else ""
    return f"{progress.elapsed:.0f}/{progress.seconds:g} s: {progress.rate:.0f}/s{latency}{errors}{memory}"


def _write(result: LoadResult, options: argparse.Namespace) -> None:
    files: list[tuple[Path, bytes]] = []
    if options.output is not None:
        files.append((options.output, dump_result(result)))
    if options.html is not None:
        from assay.lab.load.page.page import render_page

        files.append((options.html, render_page(result).encode()))
    for path, data in files:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError as error:
            problem = f"cannot write {path}: {error.strerror}"
            raise CommandFailed(ExitCode.INCOMPLETE, problem, "name another file") from error
        say(f"written: {path}")


def summary(result: LoadResult) -> Iterator[str]:
    pace = result.pace
    how = f"{pace.rate:g}/s on {pace.users} connections" if pace.rate else f"{pace.users} users"
    yield f"{result.target}, {result.transport}, {result.revision}"
    yield f"{result.scenario}: {how}, {result.seconds:g} s, {result.operations} operations"
    yield from result.remarks
    yield ""
    yield from _latencies(result)
    yield f"errors      {result.error_rate:.3%}{_kinds(result)}"
    yield from _server(result)
    yield from _generator(result)
    for objective in result.objectives:
        value = "not measured" if objective.value is None else f"{objective.value:.4g}"
        yield f"{'met     ' if objective.met else 'NOT MET '} {objective.objective} ({value})"
    if result.saturated:
        yield f"incomplete: {result.saturated}"
    if result.interrupted:
        yield f"interrupted: this is the result of {result.seconds:.1f} s"


def _latencies(result: LoadResult) -> Iterator[str]:
    if result.rate is not None:
        yield f"rate        {result.rate:.1f}/s"
    if result.latency is None:
        return
    yield f"{'latency':<12}{''.join(f'{name:>10}' for name in COLUMNS)}{'count':>10}"
    yield _row("all", result.latency)
    if len(result.kinds) > 1:
        for kind, latency in result.kinds.items():
            yield _row(kind, latency)
    if result.messages is not None:
        yield _row("messages", result.messages.latency)
        yield f"  messages of streams, by {result.messages.method}: {result.messages.rate:.1f}/s"


def _row(name: str, latency: Latency) -> str:
    return f"{name:<12}{''.join(f'{_ms(getattr(latency, each)):>10}' for each in COLUMNS)}{latency.count:>10}"


def _kinds(result: LoadResult) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in result.errors.items())
    return f" ({kinds})" if kinds else ""


def _server(result: LoadResult) -> Iterator[str]:
    server = result.server
    if server is None:
        return
    fds = "" if server.fds_max is None else f", {server.fds_max} descriptors"
    each = "" if server.cpu_us is None else f", {server.cpu_us:.0f} µs for each operation"
    yield f"server      {_size(server.rss_max)}{fds}, {server.cpu_share:.0%} of a core{each}"
    if server.leak is not None:
        descriptors = "" if not server.fd_leak else f", descriptors {server.fd_leak * 1000:+.2f}"
        yield f"growth      memory {server.leak * 1000 / 1024:+.1f} KB{descriptors} for 1000 operations"


def _generator(result: LoadResult) -> Iterator[str]:
    cost = result.generator
    waited = "" if not cost.wait_share else f", waited {cost.wait_share:.0%} for one"
    each = "" if cost.cpu_us is None else f", {cost.cpu_us:.0f} µs for each operation"
    lag = "" if cost.lag_p99 is None else f", p99 of its delay {_ms(cost.lag_p99)}"
    yield f"generator   {cost.cpu_share:.0%} of a core{waited}{each}{lag}"
    if result.floor is not None:
        floor = result.floor
        yield f"floor       {floor.rate:.0f}/s, p50 {_ms(floor.p50)}, with a server that does no work"


def comparison(changes: list[Change]) -> Iterator[str]:
    yield ""
    for change in changes:
        ratio = "" if change.ratio is None else f" ({change.ratio - 1:+.1%})"
        mark = "WORSE " if change.worse else "      "
        yield f"{mark}{change.metric}: {change.before:.4g} → {change.after:.4g}{ratio}"
    yield "worse than the stored result" if any(each.worse for each in changes) else "no worse"


def _ms(value: float) -> str:
    if value < 1:
        return f"{value * 1000:.0f} µs"
    return f"{value:.1f} ms" if value < 1000 else f"{value / 1000:.2f} s"


def _size(count: int) -> str:
    return f"{count / 2**20:.1f} MB"
