"""A sandbox: a level that the host allows, a scratch directory, and the commands that start servers in it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Final

from msgspec import Struct

from assay.sandbox.canary.report import Report, run_canary
from assay.sandbox.launch.plan import Limits, Plan, Protection

from .error import SandboxUnavailable
from .host import Choice, choose, launch_command, trial_on_host
from .installation import installed
from .level import Level, Rung
from .readable import readable

PREFIX: Final = "assay-sandbox-"
PLACE: Final = "/var/tmp"
"""Not /tmp, which is a directory of the scratch directory inside."""
NAMES: Final = ("LANG", "LANGUAGE", "PATH", "TERM", "TZ")
"""Variables that every server gets, besides those for the locale."""


class SandboxOptions(Struct, frozen=True, kw_only=True):
    level: Level | None = None
    """At least this level. Default: the strongest that the host allows, and one that closes the network."""
    read: tuple[Path, ...] = ()
    """Further files and directories that the server can read."""
    env: tuple[str, ...] = ()
    """Further variables that it gets, by name."""
    limits: Limits = Limits()
    relay: str = ""
    """A variable with the URL of a service on this machine's loopback address, which it can reach."""


class Sandbox:
    """Use it as a context manager: the directory of the sandbox is removed at its end.

    Raises:
        SandboxUnavailable: the host does not allow the level.
    """

    def __init__(self, options: SandboxOptions | None = None) -> None:
        self._options = options or SandboxOptions()
        self._directory = tempfile.TemporaryDirectory(
            prefix=f"{PREFIX}{os.getpid()}-", dir=_place(), ignore_cleanup_errors=True
        )
        root = Path(self._directory.name)
        self.scratch = root / "scratch"
        """The directory that servers can write to, under the same name inside and outside."""
        (self.scratch / "tmp").mkdir(parents=True)
        root.chmod(0o711)  # without namespaces, another user passes through it
        self._installed: dict[tuple[str, ...], tuple[str, ...]] = {}
        try:
            self._choice: Choice = choose(self._options.level, trial_on_host(self._plan(("/bin/true",))))
        except BaseException:
            self.close()
            raise

    @property
    def rung(self) -> Rung:
        return self._choice.rung

    @property
    def level(self) -> Level:
        return self.rung.level

    def command(self, words: Sequence[str], *, listener: int = -1) -> tuple[str, ...]:
        """The command line that starts this one in the sandbox. A package is installed first, once.

        `listener` is the descriptor of a listening socket to pass on, which the launcher must inherit.

        Raises:
            CannotInstall: `npx` or `uvx` is asked for a package that cannot be installed.
            SandboxUnavailable: with a listener, the kernel could not keep the server from connecting by it.
        """
        if listener >= 0:
            self._check_listener()
        words = tuple(words)
        if words not in self._installed:
            directory = Path(self._directory.name) / f"package-{len(self._installed)}"
            self._installed[words] = installed(words, directory)
        command = self._installed[words]
        return launch_command(self.plan(command)._replace(listener=listener), command)

    def _check_listener(self) -> None:
        from assay.sandbox.launch import landlock

        # A socket that listens can be disconnected and then connect; it belongs to the network of the host.
        if not self.rung.applies(Protection.LANDLOCK) or landlock.version() < landlock.NETWORK_VERSION:
            problem = "a server that listens needs landlock for TCP, or it could use its socket to connect"
            raise SandboxUnavailable(problem, "use Linux 6.7 or later with landlock, or serve on stdio")

    def plan(self, words: Sequence[str]) -> Plan:
        return self.rung.applied_to(self._plan(words))

    def _plan(self, words: Sequence[str]) -> Plan:
        cwd = Path.cwd()
        return Plan(
            protections=frozenset(),
            read=readable(words, cwd, self._options.read),
            scratch=str(self.scratch),
            cwd=str(cwd),
            names=tuple(dict.fromkeys((*NAMES, *_locale_names(), *self._options.env))),
            limits=self._options.limits,
            relay=self._options.relay,
        )

    def run_canary(self, words: Sequence[str] = ("/bin/true",)) -> Report:
        """Try to get out of the sandbox that this command gets."""
        return run_canary(self.plan(words))

    def facts(self) -> dict[str, str]:
        """What protects, for people and for a badge."""
        from assay.sandbox.launch import cgroup, landlock, process
        from assay.sandbox.launch.syscall_table import machine

        plan, rung = self.plan(("/bin/true",)), self.rung
        abi = landlock.version() if plan.has(Protection.LANDLOCK) else 0
        place = cgroup.this_place()
        program = process.filter_of(plan, machine()) if plan.has(Protection.SECCOMP) else b""
        return {
            "level": rung.level,
            "backend": rung.backend,
            "network": "none" if plan.has(Protection.SECCOMP) else "open",
            "seccomp": f"sha256:{sha256(program).hexdigest()}" if program else "off",
            "landlock": f"abi{abi}" if abi else "off",
            "cgroup": place.text if place else "none, rlimits",
            "uid": "65534" if rung.user_namespace or os.geteuid() == 0 else str(os.geteuid()),
        }

    def close(self) -> None:
        """Remove the directory, and groups of launchers that were killed."""
        self._directory.cleanup()
        from assay.sandbox.launch import cgroup

        place = cgroup.this_place()
        for parent in set(place.parents.values()) if place else ():
            cgroup.remove_abandoned(parent)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _locale_names() -> list[str]:
    return sorted(name for name in os.environ if name.startswith("LC_"))


def _place() -> str | None:
    """Where the directory goes; what killed processes left there is removed."""
    if not os.access(PLACE, os.W_OK):
        return None
    remove_abandoned(Path(PLACE).glob(f"{PREFIX}*"))
    return PLACE


def remove_abandoned(directories: Iterable[Path]) -> None:
    for directory in directories:
        owner = directory.name.removeprefix(PREFIX).partition("-")[0]
        with suppress(OSError):
            is_own = directory.lstat().st_uid == os.geteuid()
            if is_own and owner.isdecimal() and not Path("/proc", owner).exists():
                shutil.rmtree(directory, ignore_errors=True)
