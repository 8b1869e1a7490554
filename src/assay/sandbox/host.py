"""What the host allows: each way to have a level is tried, with every step but the server itself."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from assay.sandbox.launch.plan import Plan

from .error import SandboxUnavailable
from .level import Level, Rung, rungs

PATIENCE: Final = 20.0
PREFIX: Final = "assay: sandbox: "
FIXES: Final = (
    (
        "namespaces:",
        "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, on Ubuntu"
        " kernel.apparmor_restrict_unprivileged_userns=0; in Docker --security-opt seccomp=unconfined"
        " --security-opt apparmor=unconfined), or run as root",
    ),
    (
        "user namespace:",
        "allow user namespaces (on Ubuntu sysctl kernel.apparmor_restrict_unprivileged_userns=0),"
        " or run as root",
    ),
    (
        "file system:",
        "allow mounts (in Docker --security-opt systempaths=unconfined --security-opt apparmor=unconfined)",
    ),
    (
        "cgroup:",
        "run as root, or in a group of your own: systemd-run --user --scope -p Delegate=yes assay …;"
        " or accept limits per process with --sandbox L2",
    ),
    ("landlock:", "use a kernel with landlock: Linux 5.13 or later, with lsm=…,landlock"),
    ("seccomp:", "use a kernel with seccomp filters (CONFIG_SECCOMP_FILTER)"),
    ("platform:", "run it on Linux, for example in a container or virtual machine"),
)
OTHER_FIX: Final = "docs/sandbox.md lists what each level needs"

Trial = Callable[[Rung], str]
"""Returns why a rung cannot be had; an empty text if it can."""


class Choice(NamedTuple):
    rung: Rung
    refused: tuple[str, ...] = ()
    """Why the stronger ways cannot be had."""


def choose(at_least: Level | None, trial: Trial) -> Choice:
    """
    Raises:
        SandboxUnavailable: the host does not allow the level; the message says why and what to change.
    """
    refused: list[str] = []
    for rung in rungs(at_least):
        reason = trial(rung)
        if not reason:
            return Choice(rung, tuple(refused))
        refused.append(f"{rung.level} by {rung.backend}: {reason}")
    first = refused[0].partition(": ")[2]
    problem = f"this host allows no sandbox of level {at_least or 'L2'} or higher: {'; '.join(refused)}"
    raise SandboxUnavailable(problem, fix_for(first))


def fix_for(reason: str) -> str:
    return next((fix for prefix, fix in FIXES if reason.startswith(prefix)), OTHER_FIX)


def trial_on_host(plan: Plan) -> Trial:
    """Try rungs with this plan, by the launcher itself."""

    def attempt(rung: Rung) -> str:
        if sys.platform != "linux":
            return f"platform: {sys.platform} has no namespaces, landlock or seccomp"
        from assay.sandbox.launch import landlock

        if rung.needs_landlock and not landlock.version():
            return "landlock: the kernel has none"
        return _run(launch_command(rung.applied_to(plan), ()))

    return attempt


def launch_command(plan: Plan, words: Sequence[str]) -> tuple[str, ...]:
    return (sys.executable, "-I", "-m", "assay.sandbox.launch", plan.as_json(), "--", *words)


def _run(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no sandbox within {PATIENCE:g} s"
    if done.returncode == 0:
        return ""
    lines = done.stderr.decode(errors="replace").strip().splitlines() or [f"status {done.returncode}"]
    return lines[-1].removeprefix(PREFIX)
