"""The subjects of the benchmark, and how to start them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent
PEERS: Final = HERE / "peers"
ENVIRONMENTS: Final = ROOT / ".venv-bench"
NODE: Final = ROOT / ".venv-node" / "bin" / "node"

BARE: Final = "bare"
ASSAY: Final = "assay-async"
ASSAY_DEF: Final = "assay-def"
ASSAY_ON_UVICORN: Final = "assay-uvicorn"
MINIMCP: Final = "minimcp-async"
MINIMCP_DEF: Final = "minimcp-def"
OFFICIAL: Final = "mcp"
FASTMCP: Final = "fastmcp"
TYPESCRIPT: Final = "typescript"
TIMES: Final = "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True)
class Subject:
    """A server that adds two numbers; `module` is its file in `peers`."""

    name: str
    label: str
    environment: str
    module: str
    on_stdio: bool = True
    per_request: bool = False
    """Whether it is also measured without a handshake."""
    own_server: bool = False
    """Whether it has its own HTTP server; all other Python subjects run on uvicorn."""

    @property
    def executable(self) -> Path:
        return NODE if self.environment == TYPESCRIPT else python_of(self.environment)

    def http_command(self, descriptor: int) -> list[str]:
        """The command to serve on a listening socket, which the child inherits."""
        if self.environment == TYPESCRIPT:
            return [str(self.executable), str(PEERS / self.module), str(descriptor)]
        host = "assay_listen.py" if self.own_server else "serve_http.py"
        return [str(self.executable), str(PEERS / host), self.module, str(descriptor)]

    def stdio_command(self) -> list[str]:
        return [str(self.executable), str(PEERS / f"{self.module}.py")]


def python_of(environment: str) -> Path:
    return ENVIRONMENTS / environment / "bin" / "python"


SUBJECTS: Final = (
    Subject(BARE, "bare msgspec", "bare", "bare"),
    Subject(ASSAY, "Assay, async def", "assay", "assay_async", per_request=True, own_server=True),
    Subject(ASSAY_DEF, "Assay, def", "assay", "assay_def", own_server=True),
    Subject(ASSAY_ON_UVICORN, "Assay on uvicorn", "assay", "assay_async", on_stdio=False, per_request=True),
    Subject(MINIMCP, "minimcp, async def", "minimcp", "minimcp_async"),
    Subject(MINIMCP_DEF, "minimcp, def", "minimcp", "minimcp_def"),
    Subject(OFFICIAL, "official Python SDK", "mcp", "official", per_request=True),
    Subject(FASTMCP, "fastmcp", "fastmcp", "fast"),
    Subject(TYPESCRIPT, "TypeScript SDK v2", TYPESCRIPT, "typescript/server.mjs", on_stdio=False),
)
LABELS: Final = {subject.name: subject.label for subject in SUBJECTS}


class HasExecutable(Protocol):
    @property
    def executable(self) -> Path: ...


def missing_environments(subjects: Iterable[HasExecutable] = SUBJECTS) -> list[Path]:
    executables = {subject.executable for subject in subjects}
    return sorted(path for path in executables if not path.exists())
