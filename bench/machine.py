"""On what the run was made, and with which versions."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import time
from pathlib import Path
from typing import Any, Final

from .process import TICKS
from .subject import ENVIRONMENTS, NODE, PEERS, python_of

PACKAGES: Final = {
    "bare": ("msgspec", "uvicorn", "httptools", "uvloop"),
    "assay": ("assay-mcp", "msgspec", "uvicorn", "httptools", "uvloop"),
    "minimcp": ("minimcp", "mcp", "uvicorn"),
    "mcp": ("mcp", "uvicorn"),
    "fastmcp": ("fastmcp", "mcp", "uvicorn"),
}
ASK: Final = """
import sys, importlib.metadata as found
print(*(f"{name} {found.version(name)}" for name in sys.argv[1:]), sep=", ")
"""
ASK_BUILD: Final = """
import sysconfig
optimised = "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or "")
print("profile-guided build" if optimised else "build without profile-guided optimisation")
"""


def describe() -> dict[str, Any]:
    return {
        "cpu": first_match("/proc/cpuinfo", r"model name\s*: (.+)"),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "kernel": platform.release(),
        "system": first_match("/etc/os-release", r'PRETTY_NAME="(.+)"'),
        "load_before": round(os.getloadavg()[0], 2),
    }


class Neighbours:
    """How much processor time went to others than us and our children since this was made."""

    def __init__(self) -> None:
        self._begin, self._others = time.perf_counter(), self._spent()

    def _spent(self) -> float:
        fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
        user, nice, system, _, _, irq, softirq, steal = map(int, fields[:8])
        own = os.times()
        return (user + nice + system + irq + softirq + steal) / TICKS - sum(own[:4])

    def share(self) -> float:
        """In cores. Work that the kernel did for us in interrupts is among it."""
        return (self._spent() - self._others) / (time.perf_counter() - self._begin)


def first_match(path: str, pattern: str) -> str:
    try:
        found = re.search(pattern, Path(path).read_text())
    except OSError:
        found = None
    return found[1] if found else "unknown"


def versions() -> dict[str, str]:
    """By environment. A missing one is left out here; the run itself will complain."""
    python = str(python_of("assay"))
    found = {"python": f"{output_of(python, '--version')}, {output_of(python, '-c', ASK_BUILD)}"}
    for environment, names in PACKAGES.items():
        if (ENVIRONMENTS / environment).exists():
            found[environment] = output_of(str(python_of(environment)), "-c", ASK, *names)
    found["typescript"] = typescript()
    found["wrk"] = output_of("wrk", "-v").split("[")[0].strip()
    return found


def typescript() -> str:
    modules = PEERS / "typescript" / "node_modules" / "@modelcontextprotocol"
    pattern = r'"version": "([^"]+)"'
    paths = {name: str(modules / name / "package.json") for name in ("server", "node")}
    parts = [f"{name} {first_match(path, pattern)}" for name, path in paths.items()]
    return ", ".join([*parts, f"Node {output_of(str(NODE), '--version')}"])


def output_of(*command: str) -> str:
    """The first line that a command prints; wrk exits with 1 even when it only tells its version."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0] if lines else "unknown"
