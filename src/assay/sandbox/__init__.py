"""A sandbox for servers that run as a child process: no network, files by name, limits, and a proof of it.

    with Sandbox() as sandbox:
        command = sandbox.command(["python", "server.py"])

Any program can start the command. `docs/sandbox.md` describes the levels. The public names below are imported
on first use, because the launcher of this package starts with every process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.lazy_names import lazy_names

if TYPE_CHECKING:
    from assay.sandbox.launch.plan import Limits as Limits
    from assay.sandbox.launch.plan import Protection as Protection

    from .error import CannotInstall as CannotInstall
    from .error import SandboxError as SandboxError
    from .error import SandboxUnavailable as SandboxUnavailable
    from .level import Level as Level
    from .sandbox import Sandbox as Sandbox
    from .sandbox import SandboxOptions as SandboxOptions

__all__, __getattr__, __dir__ = lazy_names(
    globals(),
    {
        ".error": "CannotInstall SandboxError SandboxUnavailable",
        ".launch.plan": "Limits Protection",
        ".level": "Level",
        ".sandbox": "Sandbox SandboxOptions",
    },
)
