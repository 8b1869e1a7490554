"""Build the wheel and the sdist, install them in empty environments, and try `assay check` there.

  make package                  every extra, from the wheel; bare from the sdist
  make package ARGS=--quick     bare and the extra `lab`, from the wheel

Where an extra is missing, a command must name the `pip install` that adds it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
NAME = "assay-mcp"
HINT = re.compile(r'pip install "assay-mcp\[([a-z,]+)\]"')
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")
LIMIT = 600
"""Seconds for one command."""
PING = ("--scenario", "ping", "--spec-version", "2025-11-25")
CHECK = ("check", "everything", *PING)
CHECK_HTTP = ("check", "everything", "--transport", "http", *PING)
INITIALIZE = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
    '"capabilities":{},"clientInfo":{"name":"package","version":"1"}}}\n'
)


class PackageFailed(Exception):
    """The package is not as it should be; the text says where."""


@dataclass(frozen=True)
class Probe:
    """A command, and the sets of extras with which it works. With any other, it must name what is missing."""

    words: tuple[str, ...]
    needs: tuple[set[str], ...]


PROBES = (
    Probe(CHECK, ({"lab"},)),
    Probe(CHECK_HTTP, ({"lab", "http"},)),
    Probe(("keygen", "dev"), ({"certify"}, {"auth"}, {"lab"})),
    Probe(
        ("certify", "everything", "--scenario", "jrpc.ids", *PING[2:], "--quiet"),
        ({"certify", "lab", "http"},),
    ),
    Probe(("authority", "--list-faults"), ({"auth"}, {"lab"})),
)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="the bare wheel, and the extra lab")
    options = parser.parse_args(arguments)
    try:
        with TemporaryDirectory(prefix="assay-package-", ignore_cleanup_errors=True) as folder:
            run(Path(folder), quick=options.quick)
    except (PackageFailed, subprocess.TimeoutExpired) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def run(folder: Path, *, quick: bool) -> None:
    wheel, sdist = build(folder)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [extra for extra in project["optional-dependencies"] if extra != "dev"]
    for extra in ("", *(("lab",) if quick else extras)):
        try_package(folder / f"env-{extra or 'bare'}", wheel, extra)
    if not quick:
        try_package(folder / "env-sdist", sdist, "")


def build(folder: Path) -> tuple[Path, Path]:
    begin = time.monotonic()
    python = environment(folder / "env-build", "hatchling")
    out = folder / "dist"
    call([python, "-m", "hatchling", "build", "-d", str(out)], cwd=ROOT)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    print(f"{wheel.name}, {sdist.name}: built in {time.monotonic() - begin:.0f} s", flush=True)
    return wheel, sdist


def environment(folder: Path, *requirements: str) -> str:
    """An empty environment with these packages. It needs no pip: ours installs into it."""
    call([sys.executable, "-m", "venv", "--without-pip", str(folder)])
    pins = ("--constraint", str(ROOT / "constraints.txt"))
    call([*PIP, "--python", str(folder), "install", "--quiet", *pins, *requirements])
    return str(folder / "bin" / "python")


def try_package(folder: Path, archive: Path, extra: str) -> None:
    begin = time.monotonic()
    requirement = f"{NAME}{f'[{extra}]' if extra else ''} @ {archive.as_uri()}"
    python = environment(folder, requirement)
    installed = frozenset(every_extra() if extra == "all" else filter(None, [extra]))
    version = call([python, "-m", "assay", "--version"]).stdout
    if not version.startswith("assay "):
        raise PackageFailed(f"{archive.name}: assay --version printed {version!r}")
    expect_stdio(python)
    outcomes = [probe_outcome(python, probe, installed, folder) for probe in PROBES]
    about = extra or "bare"
    print(
        f"{about} from {archive.suffix}: {', '.join(outcomes)} ({time.monotonic() - begin:.0f} s)", flush=True
    )


def every_extra() -> Iterator[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    yield from (extra for extra in project["optional-dependencies"] if extra not in ("dev", "all"))


def expect_stdio(python: str) -> None:
    """A server on stdio needs no extra."""
    outcome = call([python, "-m", "assay", "serve", "everything"], text=INITIALIZE)
    if '"serverInfo"' not in outcome.stdout:
        raise PackageFailed(f"serve everything answered {outcome.stdout[:200]!r}")


def probe_outcome(python: str, probe: Probe, installed: frozenset[str], folder: Path) -> str:
    command = [python, "-m", "assay", *probe.words]
    outcome = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=LIMIT, input=""
    )
    name, hints = probe.words[0], HINT.findall(outcome.stderr)
    works = any(extras <= installed for extras in probe.needs)
    # 3: with one scenario, a certification measures too little.
    good = outcome.returncode in (0, 3) if works else outcome.returncode in (2, 4)
    missing = [extra for hint in hints for extra in hint.split(",") if extra not in installed]
    if not good or works is bool(missing) or "Traceback" in outcome.stderr:
        about = f"assay {' '.join(probe.words)} with {', '.join(installed) or 'no extra'}"
        raise PackageFailed(f"{about} ended with {outcome.returncode}: {outcome.stderr[-800:]}")
    return f"{name} works" if works else f"{name} names [{hints[0]}]"


def call(command: list[str], *, cwd: Path | None = None, text: str = "") -> subprocess.CompletedProcess[str]:
    outcome = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, timeout=LIMIT, input=text
    )
    if outcome.returncode != 0:
        raise PackageFailed(f"{' '.join(command)} ended with {outcome.returncode}: {outcome.stderr[-1000:]}")
    return outcome


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
