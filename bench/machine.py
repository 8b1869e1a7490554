"""The machine and the software versions of a run."""

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
    "assay": ("assay-mcp", "msgspec", "uvicorn", "httptools", "uvloop", "httpx2"),
    "minimcp": ("minimcp", "mcp", "uvicorn"),
    "mcp": ("mcp", "uvicorn"),
    "fastmcp": ("fastmcp", "mcp", "uvicorn"),
}
PRINT_VERSIONS: Final = """
import sys, importlib.metadata as metadata
print(*(f"{name} {metadata.version(name)}" for name in sys.argv[1:]), sep=", ")
"""
PRINT_BUILD: Final = """
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
    """Measures the processor time used by other processes since it was created."""

    def __init__(self) -> None:
        self._begin, self._others = time.perf_counter(), self._spent()

    def _spent(self) -> float:
        fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
        user, nice, system, _, _, irq, softirq, steal = map(int, fields[:8])
        own = os.times()
        return (user + nice + system + irq + softirq + steal) / TICKS - sum(own[:4])

    def share(self) -> float:
        """In cores. Includes interrupts that the kernel handled for us."""
        return (self._spent() - self._others) / (time.perf_counter() - self._begin)


def first_match(path: str, pattern: str) -> str:
    try:
        match = re.search(pattern, Path(path).read_text())
    except OSError:
        match = None
    return match[1] if match else "unknown"


def versions() -> dict[str, str]:
    """Package versions by environment. A missing environment is left out; the run reports it."""
    python = str(python_of("assay"))
    packages = {"python": f"{output_of(python, '--version')}, {output_of(python, '-c', PRINT_BUILD)}"}
    for environment, names in PACKAGES.items():
        if (ENVIRONMENTS / environment).exists():
            packages[environment] = output_of(str(python_of(environment)), "-c", PRINT_VERSIONS, *names)
    packages["typescript"] = typescript()
    packages["wrk"] = output_of("wrk", "-v").split("[")[0].strip()
    return packages


def typescript() -> str:
    modules = PEERS / "typescript" / "node_modules" / "@modelcontextprotocol"
    pattern = r'"version": "([^"]+)"'
    paths = {name: str(modules / name / "package.json") for name in ("server", "node")}
    parts = [f"{name} {first_match(path, pattern)}" for name, path in paths.items()]
    return ", ".join([*parts, f"Node {output_of(str(NODE), '--version')}"])


def output_of(*command: str) -> str:
    """The first line that a command prints. The exit code is ignored: `wrk -v` exits with 1."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0] if lines else "unknown"
