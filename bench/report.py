"""Write the stored result into the documentation: `python -m bench.report [page ...]`.

The text between `<!-- begin bench:NAME -->` and `<!-- end bench:NAME -->` in a page is replaced by that part
of the result.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from . import plot
from .result import STORED, Result, load
from .subject import ROOT
from .table import (
    CALLS,
    also_rows,
    as_markdown,
    client_rows,
    disturbed,
    load_rows,
    machine_lines,
    profile_rows,
    spawn_rows,
    start_rows,
    state_rows,
    target_rows,
    token_rows,
    tool_rows,
    wire_rows,
)


def warning(result: Result) -> str:
    """Printed directly below the verdicts, so that a disturbed run cannot be mistaken for a good one."""
    note = disturbed(result).lstrip(": ")
    return f"\n\n**{note}**: other work took {result.machine['other_work']:.0%} of a core." if note else ""


PAGES: Final = tuple(
    ROOT / page for page in ("README.md", "docs/performance.md", "docs/evidence/performance.md")
)
"""All pages show the same run; a test compares them with the stored result."""
PARTS: Final[dict[str, Callable[[Result], str]]] = {
    "targets": lambda result: as_markdown(target_rows(result)) + warning(result),
    "also": lambda result: as_markdown(also_rows(result)),
    "http": lambda result: as_markdown(load_rows(result, "http")),
    "http_per_request": lambda result: as_markdown(load_rows(result, "http_per_request")),
    "stdio": lambda result: as_markdown(load_rows(result, "stdio")),
    "stdio_free": lambda result: as_markdown(load_rows(result, "stdio_free")),
    "wires": lambda result: as_markdown(wire_rows(result)),
    "profile": lambda result: as_markdown(profile_rows(result)),
    "clients": lambda result: "\n\n".join(as_markdown(client_rows(result, kind)) for kind in CALLS),
    "start": lambda result: as_markdown(start_rows(result)),
    "spawn": lambda result: as_markdown(spawn_rows(result)),
    "tools": lambda result: as_markdown(tool_rows(result)),
    "state": lambda result: as_markdown(state_rows(result)),
    "tokens": lambda result: as_markdown(token_rows(result)),
    "machine": lambda result: "\n".join(f"- {line}" for line in machine_lines(result)),
}
BLOCK: Final = re.compile(r"(<!-- begin bench:(\w+) -->\n)(.*?)(<!-- end bench:\2 -->)", re.DOTALL)


def fill(page: str, result: Result) -> str:
    """
    Raises:
        KeyError: the page names an unknown part.
    """
    return BLOCK.sub(lambda block: f"{block[1]}{PARTS[block[2]](result)}\n{block[4]}", page)


def write(result: Result, pages: Sequence[Path]) -> None:
    for page in pages:
        page.write_text(fill(page.read_text("utf-8"), result), "utf-8")
    plot.write(result)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.report", description=__doc__)
    parser.add_argument("pages", nargs="*", type=Path, default=PAGES)
    parser.add_argument("--result", type=Path, default=STORED)
    options = parser.parse_args()
    if not options.result.exists():
        print(f"no result at {options.result}: run `make bench` first", file=sys.stderr)
        return 3
    write(load(options.result), options.pages)
    return 0


if __name__ == "__main__":
    sys.exit(main())
