"""Environments for tests: descriptions, and virtual environments on disk."""

import sys
import venv
from pathlib import Path

from assay.certify.bundle.environment import Distribution, Environment

MARKERS = {
    "implementation_name": "cpython",
    "implementation_version": "3.11.7",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "platform_release": "6",
    "platform_system": "Linux",
    "platform_version": "1",
    "python_full_version": "3.11.7",
    "python_version": "3.11",
    "sys_platform": "linux",
}


def installed(name: str, *requires: str, version: str = "1.0") -> Distribution:
    return Distribution(name, version, requires, "/site")


def environment(*distributions: Distribution) -> Environment:
    return Environment(MARKERS, distributions)


def virtual(place: Path, packages: dict[str, str]) -> Path:
    """Make a virtual environment that claims to have packages; return its interpreter."""
    venv.create(place / "venv", symlinks=True)
    site = next((place / "venv").rglob("site-packages"))
    for name, version in packages.items():
        about = site / f"{name}-{version}.dist-info"
        about.mkdir()
        line = f"Version: {version}\n" if version else ""
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\n{line}")
    return place / "venv" / "bin" / Path(sys.executable).name
